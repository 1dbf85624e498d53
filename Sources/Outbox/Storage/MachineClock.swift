import COutbox
import Glibc
import LinuxSystem
package import OutboxCore

/// The machine's clocks.
package struct MachineClock: Sendable {
    /// Returns the current values.
    package var read: @Sendable () -> ClockReading

    package init(read: @escaping @Sendable () -> ClockReading) { self.read = read }

    /// The kernel's clocks.
    package static let system: Self = {
        let boot = bootIdentifier
        return .init {
            .init(
                bootIdentifier: boot,
                sinceBoot: SystemClock.nanosecondsSinceBoot,
                wall: SystemClock.nanosecondsSince1970,
                isSynchronized: isSynchronized
            )
        }
    }()

    /// Whether the kernel's clock is synchronized (adjtimex(2)): setting it by hand ends that.
    private static var isSynchronized: Bool { netwatch_clock_is_synchronized() != 0 }

    /// The running system's identifier (random(4)).
    private static var bootIdentifier: String {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "unknown" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 36)
        let count = Glibc.read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
