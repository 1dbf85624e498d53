import NetworkLab
import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

struct NameMessageTests {
    private static let question: [UInt8] =
        [3] + Array("own".utf8) + [7] + Array("example".utf8) + [0, 0, 1, 0, 1]

    private static func reply(code: UInt8, answers: [UInt8] = [], count: UInt8 = 0, id: UInt8 = 7) -> [UInt8] {
        [0, id, 0x81, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0] + question + answers
    }

    /// A record with a pointer to the question's name.
    private static func record(type: UInt8, _ data: [UInt8]) -> [UInt8] {
        [0xC0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, UInt8(data.count)] + data
    }

    private static func message() throws -> NameMessage { try #require(NameMessage("own.example.", id: 7)) }

    @Test func `a query asks for the addresses of a name, with recursion`() throws {
        #expect(try Self.message().query == [0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Self.question)
    }

    @Test(arguments: [
        "", ".", "a..b", ".a", String(repeating: "a", count: 64), String(repeating: "ab.", count: 85) + "c",
    ])
    func `names that can't be asked for are refused`(name: String) {
        #expect(NameMessage(name, id: 1) == nil)
    }

    @Test func `addresses are decoded, behind an alias too`() throws {
        let alias = Self.record(type: 5, [1, 0x62, 0])
        let own: [UInt8] = [1, 0x62, 0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9]
        let answers = alias + own + Self.record(type: 1, [192, 0, 2, 7])
        let expected = ProbeOutcome.nameAnswer(
            code: 0,
            addresses: [.init(ipv4: 0xC000_0209), .init(ipv4: 0xC000_0207)]
        )
        #expect(try Self.message().reply(in: Self.reply(code: 0, answers: answers, count: 3)) == expected)
    }

    @Test func `a response code is passed on`() throws {
        #expect(try Self.message().reply(in: Self.reply(code: 3)) == .nameAnswer(code: 3, addresses: []))
        #expect(try Self.message().reply(in: Self.reply(code: 2)) == .nameAnswer(code: 2, addresses: []))
    }

    @Test func `a datagram that does not reply to the query is dropped`() throws {
        let message = try Self.message()
        #expect(message.reply(in: []) == nil)
        #expect(message.reply(in: message.query) == nil)
        #expect(message.reply(in: Self.reply(code: 0, id: 8)) == nil)
        var other = Self.reply(code: 0)
        other[13] = UInt8(ascii: "x")
        #expect(message.reply(in: other) == nil)
        other[13] = UInt8(ascii: "O")
        #expect(message.reply(in: other) != nil)
    }

    @Test func `any datagram is decoded or dropped`() throws {
        let message = try Self.message()
        let answers = Self.record(type: 1, [192, 0, 2, 7]) + Self.record(type: 1, [192, 0, 2, 8])
        var generator = SeededGenerator(seed: 1035)
        var decoded = 0
        for _ in 0..<20_000 {
            var bytes = Self.reply(code: 0, answers: answers, count: 2)
            for _ in 0..<3 {
                bytes[.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            bytes.removeLast(.random(in: 0..<40, using: &generator))
            if message.reply(in: bytes) != nil { decoded += 1 }
        }
        #expect((1_000..<19_000).contains(decoded))
    }
}
