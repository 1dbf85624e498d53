import CLinux
import Glibc

/// Wakes the main thread from another one (eventfd(2)).
///
/// Sendable by its contents: the descriptor is a number that does not change, and the kernel synchronises its use.
package final class Wakeup: Sendable {
    /// The descriptor, readable after ``signal()``.
    package let descriptor: Int32

    /// Opens the descriptor.
    ///
    /// - Throws: What to tell the user.
    package init() throws(ToolError) {
        do throws(SystemError) {
            descriptor = try retryingOnInterrupt { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
        } catch {
            throw error.toolError("wait for events")
        }
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable; from any thread.
    package func signal() {
        // It fails only if 2^64 wake-ups are pending, and then the descriptor is readable anyway.
        eventfd_write(descriptor, 1)
    }

    /// Makes the descriptor unreadable again.
    package func clear() {
        var count = eventfd_t()
        eventfd_read(descriptor, &count)
    }
}
