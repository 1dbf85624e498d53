import Glibc
package import LinuxSystem
package import NetwatchCore

extension SystemClock {
    /// The wall clock, which stamps the lines of output.
    package static var wall: Timestamp { .init(nanosecondsSinceEpoch: nanosecondsSince1970) }

    /// Returns the offset of local time from UTC, in seconds east; 0 if the C library does not know it (localtime_r(3)).
    package static func utcOffset(at time: Timestamp) -> Int {
        var seconds = time_t(time.seconds)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return 0 }
        return local.tm_gmtoff
    }
}
