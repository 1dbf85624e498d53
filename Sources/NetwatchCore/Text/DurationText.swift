/// Words for durations.
public enum DurationText {
    /// How long something has lasted, in one unit: `12 s`, `3 min`, `5 h`, `4 d`; it changes the seldomer, the longer.
    ///
    /// A duration below zero counts as zero.
    public static func age(_ duration: Duration) -> String {
        let seconds = max(duration.components.seconds, 0)
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    /// How long something lasted, in two units at most: `420 ms`, `4.2 s`, `58 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    ///
    /// A duration below zero counts as zero.
    public static func length(_ duration: Duration) -> String {
        let milliseconds = max(duration.milliseconds, 0)
        let seconds = milliseconds / 1000
        return switch seconds {
        case 0: "\(milliseconds) ms"
        case ..<10 where milliseconds % 1000 >= 100: "\(seconds).\(milliseconds % 1000 / 100) s"
        case ..<60: "\(seconds) s"
        case ..<3600: two(seconds / 60, "min", seconds % 60, "s")
        case ..<86_400: two(seconds / 3600, "h", seconds % 3600 / 60, "min")
        default: two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h")
        }
    }

    /// A short time to three digits at most: `85 us`, `1.2 ms`, `120 ms`, `3.4 s`.
    public static func latency(_ duration: Duration) -> String {
        let microseconds = max(duration.microseconds, 0)
        return switch microseconds {
        case ..<1000: "\(microseconds) us"
        case ..<10_000: "\(microseconds / 1000).\(microseconds % 1000 / 100) ms"
        case ..<1_000_000: "\(microseconds / 1000) ms"
        default: length(duration)
        }
    }

    private static func two(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
        small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
    }
}

extension Duration {
    /// Whole milliseconds; those of 292 million years and more are as many.
    fileprivate var milliseconds: Int64 { clamped(to: 1000) }

    /// Whole microseconds, likewise.
    fileprivate var microseconds: Int64 { clamped(to: 1_000_000) }

    private func clamped(to unitsPerSecond: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: unitsPerSecond)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let sum = whole.addingReportingOverflow(attoseconds / (1_000_000_000_000_000_000 / unitsPerSecond))
        return sum.overflow ? (seconds < 0 ? .min : .max) : sum.partialValue
    }
}
