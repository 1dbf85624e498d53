import COutbox
import Glibc
import LinuxSystem
package import OutboxCore

/// The machine's clocks.
package struct MachineClock: Sendable {
    /// Returns the current values.
    package var read: @Sendable () -> ClockReading
    /// Returns the second of the local day for nanoseconds since 1970.
    package var secondOfDay: @Sendable (_ wall: Int64) -> Int

    package init(
        read: @escaping @Sendable () -> ClockReading,
        secondOfDay: @escaping @Sendable (_ wall: Int64) -> Int = Self.localSecondOfDay
    ) {
        (self.read, self.secondOfDay) = (read, secondOfDay)
    }

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

    /// Returns the second of the day in the system's time zone (localtime(3)).
    @Sendable package static func localSecondOfDay(_ wall: Int64) -> Int {
        // The zone may have changed since the program was started.
        tzset()
        var (time, parts) = (time_t(wall / 1_000_000_000), tm())
        guard localtime_r(&time, &parts) != nil else { return 0 }
        return Int(parts.tm_hour) * 3_600 + Int(parts.tm_min) * 60 + min(Int(parts.tm_sec), 59)
    }

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
