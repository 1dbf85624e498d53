import Glibc
import RequestGate

/// The clock that goes on while the machine is suspended.
enum BootClock {
    /// `CLOCK_BOOTTIME`; clock_gettime(2).
    static var now: BootInstant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .init(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
