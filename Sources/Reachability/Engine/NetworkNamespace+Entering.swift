import CNetlink
import Glibc

extension NetworkNamespace {
    /// Moves the calling thread, and no other, into the namespace: setns(2).
    ///
    /// - Throws: ``MonitorError`` that says whether there is no such namespace, no namespace, or no permission.
    func enter() throws(MonitorError) {
        guard let file else { return }
        // A FIFO or a device that somebody names must not block the thread.
        let number = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw Self.error(errno, file) }
        let descriptor = try Descriptor(file, number)
        guard !Self.isCurrent(descriptor.number) else { return }
        guard setns(descriptor.number, Self.networkFlag) == 0 else { throw Self.error(errno, file) }
    }

    /// `CLONE_NEWNET`, which says what kind of namespace the file must stand for.
    private static let networkFlag: Int32 = 0x4000_0000

    /// Entering the namespace one is in would need privilege all the same.
    private static func isCurrent(_ descriptor: Int32) -> Bool {
        var own = stat()
        var other = stat()
        guard stat("/proc/thread-self/ns/net", &own) == 0, fstat(descriptor, &other) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    private static func error(_ errno: Int32, _ file: String) -> MonitorError {
        switch errno {
        case ENOENT, ENOTDIR, ESRCH, ENAMETOOLONG, ELOOP, ENXIO: .init(.namespaceNotFound, errno: errno, file)
        case EINVAL, EISDIR, ENOTTY: .init(.notANamespace, errno: errno, file)
        case EPERM, EACCES: .init(.namespaceNotPermitted, errno: errno, file)
        default: .init(.noResources, errno: errno, file)
        }
    }
}
