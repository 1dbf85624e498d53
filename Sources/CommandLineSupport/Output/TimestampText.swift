import LinuxSystem
package import NetwatchCore

/// Writes moments as RFC 3339 says, with microseconds, and remembers what lasts a minute.
///
/// `2026-11-20T20:00:00.123456Z` in UTC, `2026-11-20T21:00:00.123456+01:00` in local time.
package struct TimestampText: ~Copyable {
    /// Returns the offset of local time from UTC at a time, in seconds east; nil for UTC, written as `Z`.
    private let offset: (@Sendable (Timestamp) -> Int)?
    /// The minute since 1970 that the following belong to.
    private var minute: Int64?
    /// The start of times in that minute: `2026-11-20T21:00:`.
    private var head = LineBuffer(capacity: 32)
    /// Their end.
    private var tail = LineBuffer(capacity: 8)

    /// UTC.
    package static var utc: Self { .init(offset: nil) }

    /// Local time; the C library is queried for the offset once in each minute.
    package static var local: Self { .init { SystemClock.utcOffset(at: $0) } }

    /// Takes the offset's source, which is queried whenever the minute changes.
    package init(offset: (@Sendable (Timestamp) -> Int)?) { self.offset = offset }

    /// Writes a moment.
    package mutating func write(_ time: Timestamp, to line: inout LineBuffer) {
        let minute = time.minute
        if minute != self.minute { begin(minute, time) }
        line.append(head)
        line.append(UInt64(truncatingIfNeeded: time.seconds - minute * 60), width: 2)
        line.append(UInt8(ascii: "."))
        line.append(UInt64(truncatingIfNeeded: time.nanoseconds / 1000), width: 6)
        line.append(tail)
    }

    /// A moment's text.
    package mutating func text(_ time: Timestamp) -> String {
        var line = LineBuffer(capacity: 40)
        write(time, to: &line)
        return line.text
    }

    /// RFC 3339 has no offsets finer than a minute; the seconds of one are dropped, from the time too.
    private mutating func begin(_ minute: Int64, _ time: Timestamp) {
        self.minute = minute
        let offset = offset.map { $0(time) / 60 }
        writeHead(minute + Int64(offset ?? 0))
        tail.remove()
        guard let offset else { return tail.append(UInt8(ascii: "Z")) }
        tail.append(UInt8(ascii: offset < 0 ? "-" : "+"))
        tail.append(UInt64(offset.magnitude / 60), width: 2)
        tail.append(UInt8(ascii: ":"))
        tail.append(UInt64(offset.magnitude % 60), width: 2)
    }

    private mutating func writeHead(_ localMinute: Int64) {
        let day = CivilDay(daysSinceEpoch: localMinute.flooredQuotient(1440))
        let minuteOfDay = localMinute - localMinute.flooredQuotient(1440) * 1440
        head.remove()
        let parts: [(Int64, Int, Unicode.Scalar)] = [
            (day.year, 4, "-"), (day.month, 2, "-"), (day.day, 2, "T"), (minuteOfDay / 60, 2, ":"),
            (minuteOfDay % 60, 2, ":"),
        ]
        for (number, width, mark) in parts {
            head.append(number.magnitude, width: width)
            head.append(UInt8(ascii: mark))
        }
    }
}
