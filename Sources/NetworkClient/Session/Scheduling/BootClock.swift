import LinuxSystem
import RequestGate

/// The clock that continues while the machine is suspended.
enum BootClock {
    /// `CLOCK_BOOTTIME`; clock_gettime(2).
    static var now: BootInstant { .init(nanoseconds: SystemClock.nanosecondsSinceBoot) }
}
