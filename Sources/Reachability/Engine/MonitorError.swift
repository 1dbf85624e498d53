/// Why a monitor can't be started, or why a look-up got no answer.
public struct MonitorError: Error, Sendable, Hashable {
    /// What failed.
    public let code: Code
    /// The errno of the system call that failed (errno(3)); 0 if none did.
    public let errno: Int32
    /// What it failed on: a namespace's file, a socket, a system call.
    public let subject: String

    /// Makes an error.
    init(_ code: Code, errno: Int32, _ subject: String) {
        self.code = code
        self.errno = errno
        self.subject = subject
    }

    /// What can fail.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is no such network namespace.
        case namespaceNotFound
        /// The file is not that of a network namespace.
        case notANamespace
        /// The namespace may not be entered.
        case namespaceNotPermitted
        /// A netlink socket can't be opened, or does not answer.
        case netlinkFailed
        /// The kernel gives no thread, descriptor or timer.
        case noResources
        /// The monitor is not running.
        case notRunning
    }
}
