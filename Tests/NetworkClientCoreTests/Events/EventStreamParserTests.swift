import NetworkLab
import Testing

@testable import NetworkClientCore

/// Tests of event streams that are parsed from bytes, however they are split.
@Suite struct EventStreamParserTests {
    /// A stream and its events, each as `name:data`, or `id#name:data`.
    struct Case: Sendable, CustomTestStringConvertible {
        var stream: String
        var events: [String]
        var testDescription: String { stream.debugDescription }

        init(_ stream: String, _ events: [String]) {
            self.stream = stream
            self.events = events
        }
    }

    /// The examples of the HTML Living Standard, 9.2.6.
    private static let examples = [
        Case("data: This is the first message.\n\n", ["message:This is the first message."]),
        Case(
            "data: This is the second message, it\ndata: has two lines.\n\n",
            ["message:This is the second message, it\nhas two lines."]
        ),
        Case(
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n",
            ["add:73857293", "remove:2153", "add:113411"]
        ),
        Case("data: YHOO\ndata: +2\ndata: 10\n\n", ["message:YHOO\n+2\n10"]),
        Case(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            ["1#message:first event", "message:second event", "message: third event"]
        ),
        Case("data\n\ndata\ndata\n\ndata:", ["message:", "message:\n"]),
        Case("data:test\n\ndata: test\n\n", ["message:test", "message:test"]),
    ]

    private static let lineEnds = [
        Case("data:test\r\ndata\ndata:test\r\n\r", ["message:test\n\ntest"]),
        Case("data:1\rdata:2\r\rdata:3\r\r", ["message:1\n2", "message:3"]),
        Case("data:1\r\n\r\ndata:2\r\n\r\n", ["message:1", "message:2"]),
        Case("data:1\n\rdata:2\n\n", ["message:1", "message:2"]),
        Case("data:1\r\r\n\ndata:2\r\n\n", ["message:1", "message:2"]),
        Case("\n\r\r\n\n", []),
        Case("data:a\u{2028}b\u{85}c\u{B}d\n\n", ["message:a\u{2028}b\u{85}c\u{B}d"]),
    ]

    private static let marks = [
        Case("\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", ["message:1", "message:3"]),
        Case("\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3", ["message:2"]),
        Case("\u{FEFF}\ndata:1\n\n", ["message:1"]),
        Case("\n\u{FEFF}data:1\n\n", []),
        Case("data:\u{FEFF}1\n\n", ["message:\u{FEFF}1"]),
    ]

    private static let fields = [
        Case("data:\n\ndata\ndata\n\ndata:test\n\n", ["message:", "message:\n", "message:test"]),
        Case("event:test\ndata:x\n\ndata:x\n\n", ["test:x", "message:x"]),
        Case("event:one\nevent: two\ndata:x\n\n", ["two:x"]),
        Case("event:one\nevent\ndata:x\n\nevent: \ndata:y\n\n", ["message:x", "message:y"]),
        Case("event:test\n\ndata:x\n\n", ["message:x"]),
        Case(
            "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\n"
                + "data:4\n\n",
            ["message:\0\n 2\n1\n3\n\n4"]
        ),
        Case(
            "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacomment\ndata:test\n\n",
            ["message:test\n\ntest"]
        ),
        Case("data:\ttest\rdata: \ndata:test\n\n", ["message:\ttest\n\ntest"]),
        Case(
            "data:1\r:\0\n:\r\ndata:2\n:\(String(repeating: "x", count: 1_500))\rdata:3\n:data:fail\r\ndata:4\n\n",
            ["message:1\n2\n3\n4"]
        ),
        Case("data:a:b: c\n\n", ["message:a:b: c"]),
        Case("data:ok…\u{1F600}\n\nevent:…\ndata:x\n\n", ["message:ok…\u{1F600}", "…:x"]),
        Case("retry:1000\ndata:test1\n\nid:test\ndata:test2", ["message:test1"]),
        Case("data:1\n\ndata:2\n", ["message:1"]),
    ]

    private static let identifiers = [
        Case("id:1\ndata:a\n\ndata:b\n\nid: 2\ndata:c\n\n", ["1#message:a", "1#message:b", "2#message:c"]),
        Case("id:1\ndata:a\n\nid\ndata:b\n\nid:\ndata:c\n\n", ["1#message:a", "message:b", "message:c"]),
        Case("id:1\nid:\0\nid:2\0\nid:\0003\ndata:a\n\n", ["1#message:a"]),
        Case("id:1\n\ndata:a\n\n", ["1#message:a"]),
        Case("id: …\ndata:a\n\n", ["…#message:a"]),
        Case("ID:1\nid :2\ndata:a\n\n", ["message:a"]),
    ]

    private static let cases = examples + lineEnds + marks + fields + identifiers

    // MARK: Reading

    private struct Reading: Equatable {
        var events: [String] = []
        var lastEventID = ""
        var retryTime: Duration?
        var fault: EventStreamFault?
    }

    private func read(_ pieces: [[UInt8]], maximumSize: Int = 2_000, after id: String = "") -> Reading {
        var parser = EventStreamParser(lastEventID: id, maximumSize: maximumSize)
        var reading = Reading()
        do throws(EventStreamFault) {
            for piece in pieces { try feed(piece, to: &parser, &reading) }
        } catch {
            reading.fault = error
        }
        reading.lastEventID = parser.lastEventID
        reading.retryTime = parser.retryTime
        return reading
    }

    private func feed(
        _ piece: [UInt8],
        to parser: inout EventStreamParser,
        _ reading: inout Reading
    ) throws(EventStreamFault) {
        var rest = piece[...]
        while true {
            let result = rest.withUnsafeBytes { bytes in
                Result { () throws(EventStreamFault) in try parser.next(bytes) }
            }
            let (consumed, event) = try result.get()
            rest = rest.dropFirst(consumed)
            guard let event else { return #expect(rest.isEmpty) }
            let start = event.id.isEmpty ? "" : "\(event.id)#"
            reading.events.append("\(start)\(event.name):\(event.data)")
        }
    }

    private func read(_ stream: String, maximumSize: Int = 2_000, after id: String = "") -> Reading {
        read([Array(stream.utf8)], maximumSize: maximumSize, after: id)
    }

    // MARK: Tests

    @Test(arguments: cases)
    func `a stream has the events of the specification`(stream: Case) {
        let reading = read(stream.stream)
        #expect(reading.events == stream.events)
        #expect(reading.fault == nil)
    }

    @Test(arguments: cases)
    func `a stream has the same events wherever it is split`(stream: Case) {
        let bytes = Array(stream.stream.utf8)
        let whole = read([bytes])
        #expect(read(bytes.map { [$0] }) == whole)
        for index in bytes.indices { #expect(read([Array(bytes[..<index]), Array(bytes[index...])]) == whole) }
    }

    @Test func `random streams have the same events however they are split`() {
        let words = [
            "data", "event", "id", "retry", ":", " ", "\n", "\r", "\r\n", "\n\n", "1", "20", "x", "\0", "\u{FEFF}", "…",
            "data:a\n", "id:7\n", "\r\n\r\n", "::", "DATA", "data: \u{1F600}\r",
        ].map { Array($0.utf8) }
        for seed in 0..<2_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...60, using: &generator) {
                bytes += words.randomElement(using: &generator) ?? []
                if Int.random(in: 0..<20, using: &generator) == 0 {
                    bytes.append(.random(in: 0...255, using: &generator))
                }
            }
            let limit = Bool.random(using: &generator) ? 2_000 : Int.random(in: 1...40, using: &generator)
            var rest = bytes[...]
            var pieces: [[UInt8]] = []
            while !rest.isEmpty {
                let piece = rest.prefix(.random(in: 1...9, using: &generator))
                rest = rest.dropFirst(piece.count)
                pieces.append(Array(piece))
            }
            let whole = read([bytes], maximumSize: limit)
            #expect(read(pieces, maximumSize: limit) == whole, "seed \(seed), \(bytes)")
        }
    }

    @Test(
        arguments: [
            ("retry:3000\n", .milliseconds(3_000)), ("retry: 10\ndata:x\n\n", .milliseconds(10)), ("retry:0\n", .zero),
            ("retry:0020\n", .milliseconds(20)), ("retry:1\nretry:2\n", .milliseconds(2)), ("retry:5", nil),
            ("retry:3000\nretry:1000x\n", .milliseconds(3_000)), ("retry\n", nil), ("retry:\n", nil),
            ("retry:-1\n", nil), ("retry:+1\n", nil), ("retry:1.5\n", nil), ("retry:  1\n", nil),
            ("retry:\u{661}\n", nil),
            ("retry:86400000\n", .seconds(86_400)), ("retry:86400001\n", .seconds(86_400)),
            ("retry:999999999999999999999999999999\n", .seconds(86_400)),
        ] as [(String, Duration?)]
    )
    func `the retry time is a number of milliseconds, at most a day`(stream: String, time: Duration?) {
        #expect(read(stream).retryTime == time)
    }

    @Test(
        arguments: [
            ("id:1\ndata:a\n\nid:2\ndata:b\n", "1"), ("id:1\n\n", "1"), ("id:1\n", "0"), ("data:a\n\n", "0"),
            ("id\n\n", ""), ("id:1\n\nid:\02\n\n", "1"),
        ]
    )
    func `the last ID is that of the last complete event`(stream: String, id: String) {
        #expect(read(stream, after: "0").lastEventID == id)
    }

    @Test func `another stream drops the incomplete event, and keeps ID and retry time`() throws {
        var parser = EventStreamParser(maximumSize: 100)
        var reading = Reading()
        try feed(Array("retry:7\nid:1\ndata:a\n\nid:2\nevent:x\ndata:lost\nda".utf8), to: &parser, &reading)
        parser.startStream()
        try feed(Array("\u{FEFF}data:b\n\n".utf8), to: &parser, &reading)
        try feed(Array("data:c\r".utf8), to: &parser, &reading)
        parser.startStream()
        try feed(Array("\n\u{FEFF}data:x\n\ndata:d\n\n".utf8), to: &parser, &reading)
        #expect(reading.events == ["1#message:a", "1#message:b", "1#message:d"])
        #expect(parser.retryTime == .milliseconds(7))
    }

    @Test func `invalid UTF-8 is replaced`() {
        let stream = Array("data:a".utf8) + [0xE2, 0x82] + Array("b".utf8) + [0xFF, 0xF0, 0x9F] + Array("\n\n".utf8)
        #expect(read([stream]).events == ["message:a\u{FFFD}b\u{FFFD}\u{FFFD}"])
    }

    @Test func `a line may be as long as the limit, and no longer`() {
        let line = "data:\(String(repeating: "x", count: 15))"
        #expect(read("\(line)\n\n", maximumSize: 20).events.count == 1)
        #expect(read("data:1\n\n\(line)\r\r", maximumSize: 19).events == ["message:1"])
        #expect(read("data:1\n\n\(line)\r\r", maximumSize: 19).fault == .lineTooLong(19))
        #expect(read(":\(line)", maximumSize: 20).fault == .lineTooLong(20), "of a comment, before its end")
    }

    @Test func `the data of an event may be as large as the limit, and no larger`() {
        #expect(read("data:12345\ndata:67890\n\n", maximumSize: 11).events == ["message:12345\n67890"])
        #expect(read("data:12345\ndata:67890\n\n", maximumSize: 10).fault == .eventTooLarge(10))
        #expect(read("data:12345\n\ndata:67890\n\n", maximumSize: 10).events.count == 2)
        #expect(read(":12345\nfoo:12345\n:12345\ndata:1\n\n", maximumSize: 10).events == ["message:1"])
    }

    @Test func `after a fault nothing is parsed until another stream starts`() {
        var parser = EventStreamParser(maximumSize: 10)
        var reading = Reading()
        #expect(throws: EventStreamFault.self) { try feed(Array("data:123456\n\n".utf8), to: &parser, &reading) }
        #expect(throws: Never.self) { try feed(Array("data:1\n\n".utf8), to: &parser, &reading) }
        #expect(reading.events.isEmpty)
        parser.startStream()
        #expect(throws: Never.self) { try feed(Array("data:1\n\n".utf8), to: &parser, &reading) }
        #expect(reading.events == ["message:1"])
    }
}
