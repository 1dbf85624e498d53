import CLinux
import Glibc

/// A file that stands for a network namespace, such as `/run/netns/blue` or `/proc/1/ns/net` (network_namespaces(7)).
package struct NetworkNamespaceFile: Sendable, Hashable {
    /// The file's path.
    package let path: String

    /// Names a file.
    package init(path: String) {
        self.path = path
    }

    /// Moves the calling thread, and no other, into the namespace, unless it is there already.
    ///
    /// The corresponding C function is `setns`. Entering another namespace needs `CAP_SYS_ADMIN` in the user namespace
    /// that owns it.
    ///
    /// - Throws: The errno: of open(2) if there is no such file, `EINVAL` of setns(2) if it is no network namespace, `EPERM`
    ///   without privilege.
    package func enter() throws(SystemError) {
        // Opening a FIFO or a device must not block the thread.
        let descriptor = try Descriptor("open") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard !Self.isCurrent(descriptor.number) else { return }
        _ = try retryingOnInterrupt("setns") { setns(descriptor.number, Self.networkNamespace) }
    }

    /// `CLONE_NEWNET`: the kind of namespace that the file must stand for.
    private static let networkNamespace: Int32 = 0x4000_0000

    /// Whether the calling thread is in the namespace; setns(2) would ask for privilege even then.
    private static func isCurrent(_ descriptor: Int32) -> Bool {
        var own = stat()
        var other = stat()
        guard stat("/proc/thread-self/ns/net", &own) == 0, fstat(descriptor, &other) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }
}
