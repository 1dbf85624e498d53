import HTTPLab
import Testing

@testable import NetworkClient

/// The cases of the conformance tests.
@Suite(.timeLimit(.minutes(10)))
struct WebSocketCaseTests {
    @Test(arguments: WebSocketCase.table)
    func `a client that returns each message passes`(one: WebSocketCase) async throws {
        try await run(one, pieces: one.bytes.count)
    }

    @Test(arguments: WebSocketCase.table.filter { $0.bytes.count < 2_000 })
    func `the division of the bytes makes no difference`(one: WebSocketCase) async throws {
        try await run(one, pieces: 1)
    }

    private func run(_ one: WebSocketCase, pieces size: Int) async throws {
        let lab = try WebSocketLab { connection, frames in
            // What the client sends is read first if it sends much.
            var rest = one.bytes[...]
            while !rest.isEmpty {
                try connection.send(Array(rest.prefix(max(1, min(size, 65_536)))))
                rest = rest.dropFirst(max(1, min(size, 65_536)))
                while try connection.hasInput {
                    guard try connection.readFrame(into: frames).opcode != 8 else { return }
                }
            }
            guard one.closesAfterReplies else { return }
            while frames.value.count(where: \.isFinal) < one.replies.count { try connection.readFrame(into: frames) }
            try connection.send(.close(1000))
        }
        let socket = try await lab.open()
        try? await socket.echo()
        try await lab.server.waitForEnds()
        let received = lab.received
        let last = try #require(received.last)
        #expect(last.opcode == 8)
        #expect(last.closeCode == one.code)
        // After a fault, messages that were received before may still be returned or not.
        if one.closesAfterReplies { #expect(Array(received.dropLast()) == one.replies) }
        #expect(lab.frames.value.allSatisfy { $0.key != nil })
        let expected: WebSocketCloseCode = one.code.map(WebSocketCloseCode.init) ?? .noStatus
        if one.code == 1000 || one.code == nil { #expect(socket.closure?.code == expected) }
    }
}
