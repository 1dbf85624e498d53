import Glibc
package import ReachabilityCore

/// The kernel's clocks.
///
/// The corresponding C function is `clock_gettime`.
package enum SystemClock {
    /// The current time of `CLOCK_MONOTONIC`, which stops while the machine is suspended.
    package static var now: Instant { .init(nanoseconds: read(CLOCK_MONOTONIC)) }

    /// The time since the machine was started, in nanoseconds, suspended or not: `CLOCK_BOOTTIME`.
    package static var nanosecondsSinceBoot: Int64 { read(CLOCK_BOOTTIME) }

    /// The time that the machine was suspended since it was started: `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`.
    ///
    /// Both are read again if the thread was interrupted in between, which would count as a suspension.
    package static var suspended: Duration {
        var before: Int64
        var sinceBoot: Int64
        repeat {
            before = read(CLOCK_MONOTONIC)
            sinceBoot = read(CLOCK_BOOTTIME)
        } while read(CLOCK_MONOTONIC) - before > 1_000_000
        return .nanoseconds(sinceBoot - before)
    }

    /// The wall clock, in nanoseconds since 1970: `CLOCK_REALTIME`.
    package static var nanosecondsSince1970: Int64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // It fails only for a clock that does not exist.
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
