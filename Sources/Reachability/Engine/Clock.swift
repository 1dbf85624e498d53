import Glibc
import ReachabilityCore

/// The kernel's clocks (clock_gettime(2)).
enum Clock {
    /// `CLOCK_MONOTONIC`.
    static var now: Instant { .init(nanoseconds: read(CLOCK_MONOTONIC)) }

    /// How long the machine was suspended since it was started: `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`.
    static var suspended: Duration { .nanoseconds(read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC)) }

    /// Nanoseconds since 1970: `CLOCK_REALTIME`.
    static var wall: UInt64 { UInt64(clamping: read(CLOCK_REALTIME)) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
