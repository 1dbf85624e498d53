/// Numbers of bytes and durations as people read them.
package enum QuantityText {
    /// A number of bytes in decimal units, as in `12.3 MB`.
    package static func bytes(_ count: Int) -> String {
        guard count >= 1000 else { return "\(count) B" }
        var (value, unit) = (Double(count), 0)
        // Rounded, 999.95 would have four digits.
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return "\(decimal(value, places: 1)) \(units[unit])"
    }

    private static let units = ["B", "kB", "MB", "GB", "TB"]

    /// A duration in milliseconds, to the microsecond, as in `1.234 ms`.
    package static func milliseconds(_ duration: Duration) -> String {
        "\(decimal(Double(nanoseconds(duration)) / 1_000_000, places: 3)) ms"
    }

    /// A duration of waiting, as in `740 ms` or `12.5 s`.
    package static func short(_ duration: Duration) -> String {
        if duration < .seconds(1) { return "\(nanoseconds(duration) / 1_000_000) ms" }
        return duration < .seconds(60)
            ? "\(decimal(Double(nanoseconds(duration)) / 1_000_000_000, places: 1)) s" : rough(duration)
    }

    /// A duration in seconds, to the microsecond, as JSON has it.
    package static func seconds(_ duration: Duration) -> String {
        decimal(Double(nanoseconds(duration)) / 1_000_000_000, places: 6)
    }

    /// A duration in its largest units, as in `1 h 5 m`, `3 m 20 s` or `4 s`.
    package static func rough(_ duration: Duration) -> String {
        let seconds = Int(clamping: duration.components.seconds)
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        if hours > 0 { return "\(hours) h \(minutes) m" }
        return minutes > 0 ? "\(minutes) m \(seconds % 60) s" : "\(seconds) s"
    }

    /// Durations here are of one request: 64 bits of nanoseconds hold 292 years.
    private static func nanoseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
    }

    private static func decimal(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale).\(String(repeating: "0", count: places - fraction.count))\(fraction)"
    }
}

/// Words for durations.
package enum DurationText {
    /// Formats an age in one unit: `12 s`, `3 min`, `5 h`, `4 d`; it changes the seldomer, the longer.
    ///
    /// A duration below zero counts as zero.
    package static func age(_ duration: Duration) -> String {
        let seconds = max(duration.components.seconds, 0)
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) d"
        }
    }

    /// Formats a duration in at most two units: `420 ms`, `4.2 s`, `58 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    ///
    /// A duration below zero counts as zero.
    package static func length(_ duration: Duration) -> String {
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
    package static func latency(_ duration: Duration) -> String {
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

/// Words for amounts of data.
enum AmountText {
    /// A rate in bytes per second to two digits, without the unit: `0`, `350`, `1.2k`, `45M`; a kilobyte has 1000 bytes.
    static func rate(_ rate: Double) -> String {
        let (number, unit) = parts(rate)
        return number + unit
    }

    /// A size to two digits: `350 B`, `1.2 kB`.
    static func size(bytes: Int) -> String {
        let (number, unit) = parts(Double(bytes))
        return "\(number) \(unit)B"
    }

    private static func parts(_ amount: Double) -> (number: String, unit: String) {
        guard amount >= 0.5 else { return ("0", "") }
        var value = min(amount, 9.9e20)
        var unit = 0
        while value >= 995, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 || value >= 9.95 { return ("\(twoDigits(value))", units[unit]) }
        let tenths = Int(value * 10 + 0.5)
        return ("\(tenths / 10).\(tenths % 10)", units[unit])
    }

    /// Of a value below 1000.
    private static func twoDigits(_ value: Double) -> Int {
        let step = value >= 99.5 ? 10 : 1
        return Int(value / Double(step) + 0.5) * step
    }

    private static let units = ["", "k", "M", "G", "T", "P", "E"]
}
