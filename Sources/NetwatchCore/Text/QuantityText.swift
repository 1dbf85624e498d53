/// Numbers of bytes and durations as people read them.
public enum QuantityText {
    /// A number of bytes in decimal units, as in `12.3 MB`.
    public static func bytes(_ count: Int) -> String {
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
    public static func milliseconds(_ duration: Duration) -> String {
        "\(decimal(Double(nanoseconds(duration)) / 1_000_000, places: 3)) ms"
    }

    /// A duration that somebody waits for, as in `740 ms` or `12.5 s`.
    public static func short(_ duration: Duration) -> String {
        if duration < .seconds(1) { return "\(nanoseconds(duration) / 1_000_000) ms" }
        return duration < .seconds(60)
            ? "\(decimal(Double(nanoseconds(duration)) / 1_000_000_000, places: 1)) s" : rough(duration)
    }

    /// A duration in seconds, to the microsecond, as JSON has it.
    public static func seconds(_ duration: Duration) -> String {
        decimal(Double(nanoseconds(duration)) / 1_000_000_000, places: 6)
    }

    /// A duration in its largest units, as in `1 h 5 m`, `3 m 20 s` or `4 s`.
    public static func rough(_ duration: Duration) -> String {
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
