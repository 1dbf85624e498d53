import HTTPLab
import Testing

/// A case of the WebSocket conformance tests: what a server sends to a client that returns each message, and what the
/// client must send.
///
/// The numbers are those of the Autobahn test suite, whose cases these follow.
struct WebSocketCase: Sendable, CustomTestStringConvertible {
    var number: String
    var bytes: [UInt8]
    /// The messages and control frames of the client, without the last Close frame.
    var replies: [LabFrame]
    /// The code of the client's Close frame; nil for one without a code.
    var code: UInt16?
    /// Whether the server closes with 1000 once it has received the replies.
    var closesAfterReplies = false

    var testDescription: String { number }

    /// A case in which the server sends valid frames and then closes with 1000.
    init(_ number: String, _ frames: [LabFrame], replies: [LabFrame]) {
        self.init(number, frames, replies: replies, closes: 1000)
        closesAfterReplies = true
    }

    /// A case in which the client closes with a code.
    init(_ number: String, _ frames: [LabFrame], replies: [LabFrame] = [], closes code: UInt16?) {
        (self.number, bytes, self.replies, self.code) = (number, frames.flatMap(\.bytes), replies, code)
    }

    static let table = framing + pings + reserved + opcodes + fragments + text + closes + limits

    // MARK: 1: framing

    private static let sizes = [0, 125, 126, 127, 128, 65_535, 65_536]

    private static let framing: [Self] = sizes.enumerated().flatMap { index, size -> [Self] in
        let text = LabFrame(1, [UInt8](repeating: 0x2A, count: size))
        let bytes = LabFrame(2, [UInt8](repeating: 0xFE, count: size))
        return [
            .init("1.1.\(index + 1)", [text], replies: [text]), .init("1.2.\(index + 1)", [bytes], replies: [bytes]),
        ]
    }

    // MARK: 2: pings and pongs

    private static let pings: [Self] = [
        .init("2.1", [.ping()], replies: [.pong()]),
        .init("2.2", [.ping("Hello, world!")], replies: [.pong("Hello, world!")]),
        .init(
            "2.3",
            [.init(9, [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF])],
            replies: [.init(10, [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF])]
        ),
        .init(
            "2.4",
            [.init(9, [UInt8](repeating: 0xFE, count: 125))],
            replies: [.init(10, [UInt8](repeating: 0xFE, count: 125))]
        ),
        .init("2.5", [.init(9, [UInt8](repeating: 0xFE, count: 126))], closes: 1002),
        .init("2.7", [.pong()], replies: []),
        .init("2.8", [.pong("unsolicited")], replies: []),
        .init("2.9", [.pong("unsolicited"), .ping("ping")], replies: [.pong("ping")]),
        .init("2.10", (0..<10).map { .ping("\($0)") }, replies: (0..<10).map { .pong("\($0)") }),
    ]

    // MARK: 3: reserved bits

    private static let reserved: [Self] = [
        .init("3.1", [.init(1, [0x2A], reserved: 1)], closes: 1002),
        .init("3.2", [.text("first"), .init(1, [0x2A], reserved: 2), .ping()], closes: 1002),
        .init("3.4", [.text("first"), .init(1, [0x2A], reserved: 4), .ping()], closes: 1002),
        .init("3.5", [.init(2, [0x00], reserved: 5)], closes: 1002),
        .init("3.6", [.init(9, [], reserved: 6)], closes: 1002),
        .init("3.7", [.init(8, [], reserved: 7)], closes: 1002),
    ]

    // MARK: 4: opcodes

    private static let opcodes: [Self] = ([3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8]).map { opcode in
        let number = opcode < 8 ? "4.1.\(opcode - 2)" : "4.2.\(opcode - 10)"
        return .init(number, [.init(opcode), .ping()], closes: 1002)
    }

    // MARK: 5: fragments

    private static let joined = LabFrame.text("fragment1fragment2")

    private static let fragments: [Self] = [
        .init("5.1", [.init(9, [0x70], isFinal: false), .more("ing")], closes: 1002),
        .init("5.2", [.init(10, [0x70], isFinal: false), .more("ong")], closes: 1002),
        .init("5.3", [.text("fragment1", isFinal: false), .more("fragment2")], replies: [joined]),
        .init(
            "5.6",
            [.text("fragment1", isFinal: false), .ping("ping"), .more("fragment2")],
            replies: [.pong("ping"), joined]
        ),
        .init("5.9", [.more("not a continuation"), .text("Hello, world!")], closes: 1002),
        .init("5.12", [.more("not a continuation", isFinal: false), .text("Hello, world!")], closes: 1002),
        .init(
            "5.15",
            [.text("fragment1", isFinal: false), .more("fragment2"), .more("fragment3", isFinal: false)],
            closes: 1002
        ),
        .init("5.18", [.text("fragment1", isFinal: false), .text("fragment2")], closes: 1002),
        .init(
            "5.19",
            [
                .text("fragment1", isFinal: false), .more("fragment2", isFinal: false), .ping("pongme 1!"),
                .more("fragment3", isFinal: false), .more("fragment4", isFinal: false), .ping("pongme 2!"),
                .more("fragment5"),
            ],
            replies: [
                .pong("pongme 1!"), .pong("pongme 2!"), .text("fragment1fragment2fragment3fragment4fragment5"),
            ]
        ),
    ]

    // MARK: 6: UTF-8

    private static let valid = "Hello-µ@ßöäüàá-UTF-8!!"
    private static let invalid: [UInt8] = Array("κόσμε".utf8) + [0xED, 0xA0, 0x80] + Array("edited".utf8)

    private static let text: [Self] = [
        .init("6.1.2", [.text("", isFinal: false), .more("", isFinal: false), .more("")], replies: [.text("")]),
        .init(
            "6.1.3",
            [.text("", isFinal: false), .more("middle", isFinal: false), .more("")],
            replies: [.text("middle")]
        ),
        .init("6.2.1", [.text(valid)], replies: [.text(valid)]),
        .init(
            "6.2.3",
            valid.utf8.enumerated().map { .init($0 == 0 ? 1 : 0, [$1], isFinal: false) } + [.more("")],
            replies: [.text(valid)]
        ),
        .init("6.3.1", [.init(1, invalid)], closes: 1007),
        .init(
            "6.3.2",
            invalid.enumerated().map { .init($0 == 0 ? 1 : 0, [$1], isFinal: false) } + [.more("")],
            closes: 1007
        ),
        // The message never ends: the client must not wait for its end.
        .init("6.4.1", [.text("κόσμε", isFinal: false), .init(0, [0xF4, 0x90], isFinal: false)], closes: 1007),
        incomplete("6.4.3", Array("κόσμε".utf8) + [0xF4, 0x90]),
        incomplete("6.4.4", Array("κόσμε".utf8) + [0xC0]),
        .init("6.6.1", [.init(1, [0xCE])], closes: 1007),
        .init("6.21.1", [.init(1, [0xED, 0xA0, 0x80])], closes: 1007),
        .init("6.22.1", [.text("\u{FFFE}")], replies: [.text("\u{FFFE}")]),
    ]

    /// A frame that announces more bytes than it has.
    private static func incomplete(_ number: String, _ payload: [UInt8]) -> Self {
        var one = Self(number, [], closes: 1007)
        one.bytes = [0x81, 0x7D] + payload
        return one
    }

    // MARK: 7: closing

    private static let validCodes: [UInt16] = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999,
    ]
    private static let invalidCodes: [UInt16] = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535]

    private static let closes: [Self] =
        [
            .init("7.1.1", [.text("Hello World!")], replies: [.text("Hello World!")]),
            .init("7.1.2", [.close(1000), .close(1000)], closes: 1000),
            .init("7.1.3", [.close(1000), .ping()], closes: 1000),
            .init("7.1.4", [.close(1000), .text("Hello World!")], closes: 1000),
            .init("7.1.5", [.text("fragment1", isFinal: false), .close(1000), .more("fragment2")], closes: 1000),
            .init("7.3.1", [.close()], closes: nil),
            .init("7.3.2", [.init(8, [0x61])], closes: 1002),
            .init("7.3.4", [.close(1000, "Hello World!")], closes: 1000),
            .init("7.3.5", [.close(1000, String(repeating: "*", count: 123))], closes: 1000),
            .init("7.3.6", [.close(1000, String(repeating: "*", count: 124))], closes: 1002),
            .init("7.5.1", [.init(8, [0x03, 0xE8] + invalid)], closes: 1007),
        ]
        + validCodes.map {
            .init("7.7 \($0)", [.close($0)], closes: $0)
        }
        + invalidCodes.map {
            .init("7.9 \($0)", [.close($0)], closes: 1002)
        }

    // MARK: 9: sizes

    private static let limits: [Self] = [
        .init("9.1.3", [large(1, 1 << 20)], replies: [large(1, 1 << 20)]),
        .init("9.2.4", [large(2, 4 << 20)], replies: [large(2, 4 << 20)]),
        .init(
            "9.3.4",
            (0..<1024).map { .init($0 == 0 ? 1 : 0, [UInt8](repeating: 0x2A, count: 1024), isFinal: $0 == 1023) },
            replies: [large(1, 1 << 20)]
        ),
        .init("9.7.1", (0..<1000).map { _ in .text("") }, replies: (0..<1000).map { _ in .text("") }),
        .init("9.8.3", (0..<1000).map { _ in small }, replies: (0..<1000).map { _ in small }),
    ]

    private static let small = large(2, 125)

    private static func large(_ opcode: UInt8, _ size: Int) -> LabFrame {
        .init(opcode, [UInt8](repeating: 0x2A, count: size))
    }
}
