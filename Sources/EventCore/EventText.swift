/// Writes server-sent events (HTML Living Standard, 9.2), and the events that the log makes itself.
package enum EventText {
    /// Returns a line of JSON as a server-sent event, ended by an empty line.
    ///
    /// - Parameters:
    ///   - line: The object, with its line feed.
    ///   - id: The event's id; nil if a client that reconnects after it is to name the one before.
    /// - Returns: The bytes to send.
    package static func serverSent(_ line: [UInt8], id: EventID?) -> [UInt8] {
        let head = id.map { "id: \($0)\ndata: " } ?? "data: "
        return Array(head.utf8) + line + [UInt8(ascii: "\n")]
    }

    /// A comment, which clients ignore.
    package static let comment = Array(":\n\n".utf8)

    /// Returns the event that reports a gap: the object of what follows it, with the event `gap` and a member of that name.
    ///
    /// It has all members that other events have, so that a program which knows no gaps still reads a true status.
    ///
    /// - Parameters:
    ///   - gap: The report.
    ///   - next: The object of the state or the event at the gap's end, with its line feed.
    /// - Returns: The line, with its line feed.
    package static func line(of gap: EventGap, at next: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        guard let mark = range(of: Array(#""event":""#.utf8), in: next),
            let end = next.lastIndex(of: UInt8(ascii: "}")),
            let rest = next[mark.upperBound...].firstIndex(of: quote), rest < end
        else { return next }
        let from = gap.from.map { "\"\($0)\"" } ?? "null"
        let missed = gap.missed.map(String.init) ?? "null"
        let member = #","gap":{"from":\#(from),"missed":\#(missed),"reason":"\#(gap.reason.rawValue)"}"#
        var line = Array(next[..<mark.upperBound])
        line += "gap".utf8
        line += next[rest..<end]
        line += member.utf8
        line += next[end...]
        return line
    }

    private static func range(of part: [UInt8], in bytes: [UInt8]) -> Range<Int>? {
        guard bytes.count >= part.count else { return nil }
        for start in 0...(bytes.count - part.count) where bytes[start...].starts(with: part) {
            return start..<(start + part.count)
        }
        return nil
    }
}
