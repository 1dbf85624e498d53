import CommandLineSupport
import Glibc
import NetwatchCore
import ReachabilityCore

/// The clocks that the live view is shown by.
enum LiveClock {
    /// This moment.
    static var moment: ViewMoment {
        let time = SystemClock.wall
        return .init(
            time: time,
            utcOffset: SystemClock.utcOffset(at: time),
            instant: SystemClock.now,
            suspended: SystemClock.suspended
        )
    }
}
