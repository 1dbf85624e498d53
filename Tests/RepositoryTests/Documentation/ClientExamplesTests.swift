import Crypto
import HTTPLab
import NetworkLab
import Testing

/// The programs under Examples that extend the client.
@Suite(.timeLimit(.minutes(2))) struct ClientExamplesTests {
    @Test func `the signing program signs method, path and body`() throws {
        let server = try AnsweringServer { _ in [.response("stored")] }
        let outcome = try LabProcess.run(BuiltProducts.path(of: "SigningRequests"), ["\(server.url)/v1"])
        #expect(outcome.output == "200\n", "\(outcome)")
        let request = try #require(server.requests.value.first)
        let signed = Array("POST /v1/readings\n".utf8) + request.body
        let key = SymmetricKey(data: Array("shared secret".utf8))
        let digits = HMAC<SHA256>.authenticationCode(for: signed, using: key).map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        #expect(request.body.isEmpty == false)
        #expect(request["Authorization"] == "HMAC \(digits.joined())")
    }

    @Test func `the program that follows events continues after the last one, until the server ends the stream`()
        throws
    {
        let server = try AnsweringServer { request in
            let fields = ["Content-Type: text/event-stream"]
            return switch request["Last-Event-ID"] {
            case nil: [.response("retry:1\nid:1\ndata:a\n\n", headers: fields)]
            case "1": [.response("retry:1\nid:2\nevent:add\ndata:b\n\n", headers: fields)]
            default: [.response(status: "204 No Content")]
            }
        }
        let program = BuiltProducts.path(of: "FollowingEvents")
        let outcome = try LabProcess.run(program, ["\(server.url)/v1"])
        #expect(outcome.output == "1 message a\n2 add b\nthe server has ended the stream\n", "\(outcome)")
        #expect(server.requests.value.map { $0["Last-Event-ID"] } == [nil, "1", "2"])
        #expect(server.requests.value.allSatisfy { $0.target == "/v1/stream" })
        let rest = try LabProcess.run(program, ["\(server.url)/v1", "1"])
        #expect(rest.output.hasPrefix("2 add b\n"), "\(rest)")
    }

    @Test func `the program with a WebSocket exchanges messages`() throws {
        let server = try ScriptedServer(always: [
            .custom { connection in
                try connection.acceptWebSocket()
                for _ in 0..<2 { try connection.send(.init(1, try connection.readFrame().payload)) }
                _ = try connection.readFrame()
                try connection.send(.close(1000))
            }
        ])
        let program = BuiltProducts.path(of: "ExchangingMessages")
        let outcome = try LabProcess.run(program, ["ws://127.0.0.1:\(server.port)/v1", "hello", "é"])
        #expect(outcome.output == "hello\né\n", "\(outcome)")
        #expect(server.connections.first?.requests.first?.head.hasPrefix("GET /v1/feed ") == true)
    }

    @Test func `the program with a stage counts the bytes of each host`() throws {
        let server = try AnsweringServer { _ in [.response("12345")] }
        let other = "http://localhost:\(server.port)"
        let program = BuiltProducts.path(of: "CountingBytes")
        let outcome = try LabProcess.run(program, ["\(server.url)/a", "\(other)/b", "\(server.url)/c"])
        let counts = ["127.0.0.1: 5", "127.0.0.1: 5, localhost: 5", "127.0.0.1: 10, localhost: 5"]
        #expect(outcome.output == counts.map { "\($0)\n" }.joined(), "\(outcome)")
    }

    @Test func `the program with pipes sends requests over one pair of them`() throws {
        let outcome = try LabProcess.run(BuiltProducts.path(of: "PipeConnection"), [])
        #expect(outcome.output == "GET /first HTTP/1.1\nGET /second HTTP/1.1\n", "\(outcome)")
    }
}
