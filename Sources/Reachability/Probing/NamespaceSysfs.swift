import CNetlink
import Glibc

/// A view of sysfs that shows the calling thread's network namespace, and is attached nowhere in the file system.
///
/// /sys shows the namespace in which it was mounted. A view of one's own takes `CAP_SYS_ADMIN`, as entering another
/// namespace does, and Linux 5.2.
struct NamespaceSysfs: ~Copyable {
    private let descriptor: Int32

    /// Creates a view; nil if the kernel refuses.
    init?() {
        descriptor = netwatch_open_sysfs()
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The directory of the interfaces.
    var interfaces: String { "/proc/self/fd/\(descriptor)/class/net" }
}
