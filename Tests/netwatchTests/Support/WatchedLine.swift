import CommandLineLab
import NetworkLab
import Testing

/// The fields of a JSON line that a story determines.
struct WatchedLine: Hashable {
    var event = "change"
    var status: String
    var interface: String?
    var ipv4: String?
    var ipv6: String?

    /// No path.
    static let none = Self(status: "notReachable")

    /// A path of one family, or of both, through one interface.
    static func path(_ status: String, _ interface: String, ipv4: Bool = true, ipv6: Bool = false) -> Self {
        .init(
            status: status,
            interface: interface,
            ipv4: ipv4 ? interface : nil,
            ipv6: ipv6 ? interface : nil
        )
    }

    /// The same as the first line.
    var first: Self {
        var line = self
        line.event = "state"
        return line
    }
}

/// Reads the lines of one `watch --json` or `replay --json`, and checks what they must have in common.
final class Story {
    private let output: LineReader
    private var count = 0.0
    private var status: JSONValue = .null
    private var time = ""
    private var last: (line: WatchedLine, path: JSONValue?)?

    init(_ output: LineReader) { self.output = output }

    /// Expects that the next line is the given one, with these reasons among others.
    func expect(
        _ expected: WatchedLine,
        because reasons: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = try #require(try output.line(), "the output has ended", sourceLocation: sourceLocation)
        let line = try EventSchema.parse(text, sourceLocation: sourceLocation)
        #expect(Self.told(line) == expected, "\(text)", sourceLocation: sourceLocation)
        let given = try #require(line["reasons"]?.elements).compactMap(\.text)
        #expect(Set(given).isSuperset(of: reasons), "\(text)", sourceLocation: sourceLocation)
        try chain(line, text, sourceLocation)
    }

    /// Expects no further line before the end, except lines with details that a story leaves out.
    ///
    /// On a slow machine the kernel's results arrive before the tables have been read, which add a metric to them.
    func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) throws {
        while let text = try output.line() {
            let line = try EventSchema.parse(text, sourceLocation: sourceLocation)
            let hasNews = last?.path != line["path"]
            #expect(hasNews && last?.line == Self.told(line), "\(text)", sourceLocation: sourceLocation)
            try chain(line, text, sourceLocation)
        }
    }

    /// Expects that each line follows the previous one.
    private func chain(_ line: JSONValue, _ text: String, _ sourceLocation: SourceLocation) throws {
        count += 1
        last = (Self.told(line), line["path"])
        let newTime = try #require(line["time"]?.text)
        #expect(line["seq"] == .number(count), "\(text)", sourceLocation: sourceLocation)
        #expect(line["previous"] == status, "\(text)", sourceLocation: sourceLocation)
        #expect(newTime >= time, "\(text)", sourceLocation: sourceLocation)
        status = line["status"] ?? .null
        time = newTime
    }

    private static func told(_ line: JSONValue) -> WatchedLine {
        .init(
            event: line["event"]?.text ?? "",
            status: line["status"]?.text ?? "",
            interface: line["path"]?["interface"]?["name"]?.text,
            ipv4: line["path"]?["ipv4"]?["interface"]?.text,
            ipv6: line["path"]?["ipv6"]?["interface"]?.text
        )
    }
}
