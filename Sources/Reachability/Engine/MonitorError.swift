import LinuxSystem

/// Why a monitor can't be started, or why a lookup got no answer.
public struct MonitorError: Error, Sendable, Hashable {
    /// What failed.
    public let code: Code
    /// The errno of the system call that failed (errno(3)); 0 if none did.
    public let errno: Int32
    /// What it failed on: a namespace's file, a socket, a system call.
    public let subject: String

    /// Creates an error.
    init(_ code: Code, errno: Int32, _ subject: String) {
        self.code = code
        self.errno = errno
        self.subject = subject
    }

    /// What can fail.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// There is no such network namespace.
        case namespaceNotFound
        /// The file isn't that of a network namespace.
        case notANamespace
        /// The namespace may not be entered.
        case namespaceNotPermitted
        /// A netlink socket can't be opened, or doesn't reply.
        case netlinkFailed
        /// The kernel has no thread, descriptor or timer to give.
        case noResources
        /// The monitor is not running.
        case notRunning
    }
}

extension MonitorError: CustomStringConvertible {
    /// What failed, on what, and what can be done about it, in one line.
    public var description: String {
        switch code {
        case .namespaceNotFound: "there is no network namespace at \(subject) (\(reason))"
        case .notANamespace: "\(subject) is not a network namespace; ip netns list shows those with names"
        case .namespaceNotPermitted: "not permitted to enter the network namespace \(subject); this needs CAP_SYS_ADMIN"
        case .netlinkFailed: "netlink failed in \(subject): \(reason)"
        case .noResources: "\(subject) failed: \(reason)"
        case .notRunning: "the monitor is not running"
        }
    }

    private var reason: String { "\(SystemError(code: errno)), errno \(errno)" }
}

extension MonitorError {
    /// A monitor that isn't running.
    static let notRunning = Self(.notRunning, errno: 0, "monitor")

    /// Creates an error from a netlink call's failure.
    init(_ error: NetlinkError) {
        self.init(.netlinkFailed, errno: error.errno, "\(error.call)")
    }

    /// Creates an error from the failure of a system call that gives a resource.
    init(_ error: SystemError) {
        self.init(.noResources, errno: error.code, error.call)
    }
}
