import Glibc
package import NetwatchCore
package import ReachabilityCore

/// The machine's clocks.
package enum SystemClock {
    /// The monotonic clock, which deadlines are counted by (clock_gettime(2)).
    package static var now: Instant {
        let time = read(CLOCK_MONOTONIC)
        return .init(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The wall clock, which lines are stamped by.
    package static var wall: Timestamp {
        let time = read(CLOCK_REALTIME)
        return .init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    /// Returns the offset of local time from UTC, in seconds east; 0 if the C library does not know it (localtime_r(3)).
    package static func utcOffset(at time: Timestamp) -> Int {
        var seconds = time_t(time.seconds)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return 0 }
        return local.tm_gmtoff
    }

    /// The time that the machine was suspended since boot: `CLOCK_BOOTTIME` less `CLOCK_MONOTONIC`.
    package static var suspended: Duration {
        let boot = read(CLOCK_BOOTTIME)
        let total = Int64(boot.tv_sec) * 1_000_000_000 + Int64(boot.tv_nsec)
        return .nanoseconds(total - now.nanoseconds)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        // It can fail only for a clock that does not exist.
        clock_gettime(clock, &time)
        return time
    }
}
