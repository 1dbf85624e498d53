import ReachabilityCore
import Testing

@testable import NetworkClientCore

/// Tests of the opening and the closing handshake, and of pings.
@Suite struct WebSocketHandshakeTests {
    private static let good = [
        "Upgrade": ["WebSocket"], "Connection": ["keep-alive, upgrade"], "Sec-WebSocket-Accept": ["key"],
    ]

    private static func agreement(
        _ handshake: WebSocketHandshake,
        _ changes: [String: [String]] = [:]
    ) throws(WebSocketRefusal) -> WebSocketHandshake.Agreement {
        let fields = good.merging(changes) { $1 }
        return try handshake.agreement(accept: "key") { fields[$0] ?? [] }
    }

    // MARK: The opening handshake

    @Test func `the request names the version, the subprotocols and the compression`() {
        let compression = WebSocketCompression(clientContextTakeover: false, clientWindowBits: 10, serverWindowBits: 9)
        let fields = WebSocketHandshake(subprotocols: ["a", "b"], compression: compression).fields
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Protocol: a, b",
                "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; "
                    + "server_max_window_bits=9; client_max_window_bits=10",
            ]
        )
        #expect(WebSocketCompression().offer == "permessage-deflate; client_max_window_bits")
        #expect(WebSocketHandshake().fields.count == 3)
    }

    @Test func `what can't be offered is named`() {
        #expect(WebSocketHandshake(subprotocols: ["a", "b"]).flaw == nil)
        #expect(WebSocketHandshake(subprotocols: ["a b"]).flaw?.contains("'a b' is not a token") == true)
        #expect(WebSocketHandshake(subprotocols: ["a", "a"]).flaw?.contains("twice") == true)
        #expect(WebSocketHandshake(compression: .init(clientWindowBits: 8)).flaw?.contains("8 bits") == true)
        #expect(WebSocketHandshake(compression: .init(serverWindowBits: 16)).flaw?.contains("16 bits") == true)
    }

    @Test func `over HTTP/2, a response has no fields of an upgrade, and its terms are checked all the same`() throws {
        let handshake = WebSocketHandshake(subprotocols: ["a"])
        let fields = { (name: String) in name == "Sec-WebSocket-Protocol" ? ["a"] : [] }
        #expect(try handshake.agreement(accept: nil, fields) == .init(subprotocol: "a"))
        #expect(throws: WebSocketRefusal.self) { try WebSocketHandshake().agreement(accept: nil, fields) }
        #expect(throws: WebSocketRefusal.self) { try handshake.agreement(accept: "key", fields) }
    }

    @Test func `a valid response gives the agreement`() throws {
        let handshake = WebSocketHandshake(subprotocols: ["a", "b"], compression: .init())
        #expect(try Self.agreement(handshake) == .init(subprotocol: nil, compression: nil))
        let fields = [
            "Sec-WebSocket-Protocol": ["b"],
            "Sec-WebSocket-Extensions": [
                "permessage-deflate ; server_no_context_takeover;client_max_window_bits = \"10\""
            ],
        ]
        let agreement = WebSocketCompression.Agreement(
            clientContextTakeover: true,
            serverContextTakeover: false,
            clientWindowBits: 10,
            serverWindowBits: 15
        )
        #expect(try Self.agreement(handshake, fields) == .init(subprotocol: "b", compression: agreement))
    }

    @Test(
        arguments: [
            ("Upgrade", [], "Upgrade field"), ("Upgrade", ["h2c"], "Upgrade field"),
            ("Connection", ["close"], "Connection field"), ("Sec-WebSocket-Accept", [], "is missing"),
            ("Sec-WebSocket-Accept", ["KEY"], "is 'KEY', not 'key'"),
            ("Sec-WebSocket-Accept", ["key", "key"], "is 'key, key'"),
            ("Sec-WebSocket-Protocol", ["c"], "subprotocol 'c'"), ("Sec-WebSocket-Protocol", ["A"], "subprotocol 'A'"),
            ("Sec-WebSocket-Protocol", ["a", "a"], "'a, a'"),
            ("Sec-WebSocket-Extensions", ["x-webkit-deflate-frame"], "extension 'x-webkit-deflate-frame'"),
            ("Sec-WebSocket-Extensions", ["permessage-deflate, permessage-deflate"], "or twice"),
            ("Sec-WebSocket-Extensions", ["permessage-deflate; foo"], "'foo' of permessage-deflate is unknown"),
            ("Sec-WebSocket-Extensions", ["permessage-deflate; server_max_window_bits"], "is unknown or invalid"),
            ("Sec-WebSocket-Extensions", ["permessage-deflate; server_max_window_bits=16"], "from 8 to 15"),
            ("Sec-WebSocket-Extensions", ["permessage-deflate; server_max_window_bits=08"], "from 8 to 15"),
            ("Sec-WebSocket-Extensions", ["permessage-deflate; client_no_context_takeover=1"], "is unknown or invalid"),
            (
                "Sec-WebSocket-Extensions",
                ["permessage-deflate; client_no_context_takeover; client_no_context_takeover"], "is repeated"
            ),
        ] as [(String, [String], String)]
    )
    func `an invalid response is refused with the reason`(name: String, values: [String], reason: String) {
        let handshake = WebSocketHandshake(subprotocols: ["a"], compression: .init())
        let refusal = #expect(throws: WebSocketRefusal.self) {
            _ = try Self.agreement(handshake, [name: values])
        }
        #expect(refusal?.reason.contains(reason) == true, "\(refusal?.reason ?? "")")
    }

    @Test func `nothing may be agreed on that was not offered, nor less than was required`() {
        let extensions = "Sec-WebSocket-Extensions"
        for (compression, response) in [
            (nil, "permessage-deflate"), (.init(serverContextTakeover: false), "permessage-deflate"),
            (.init(serverWindowBits: 10), "permessage-deflate"),
            (.init(serverWindowBits: 10), "permessage-deflate; server_max_window_bits=11"),
        ] as [(WebSocketCompression?, String)] {
            #expect(throws: WebSocketRefusal.self) {
                _ = try Self.agreement(.init(compression: compression), [extensions: [response]])
            }
        }
    }

    // MARK: The closing handshake

    @Test func `each side sends one Close frame`() {
        var closing = WebSocketClosing()
        #expect(closing.isOpen && !closing.isComplete)
        let isSent = [closing.send(.init(.normal, reason: "done")), closing.send(.init(.goingAway))]
        #expect(isSent == [true, false] && !closing.isOpen)
        #expect(closing.closure == .init(.abnormal, reason: "done"))
        let response = closing.receive(.init(.normal, reason: "bye"))
        #expect(response == nil)
        #expect(closing.isComplete && closing.closure == .init(.normal, reason: "bye"))
    }

    @Test func `a Close frame is responded to with its code`() {
        var closing = WebSocketClosing()
        let responses = [closing.receive(.init(.serviceRestart, reason: "x")), closing.receive(.init(.normal))]
        #expect(responses == [.init(.serviceRestart), nil])
        let isSent = closing.send(.init(.normal))
        #expect(!isSent && closing.isComplete)
        #expect(closing.closure == .init(.serviceRestart, reason: "x"))
    }

    @Test func `nothing is sent after the end of the connection`() {
        var closing = WebSocketClosing()
        closing.end()
        let isSent = closing.send(.init(.normal))
        #expect(!closing.isOpen && !isSent && closing.closure == .init(.abnormal))
    }

    @Test func `the payload of a Close frame is read as it was written`() throws {
        for closure in [WebSocketClosure(.noStatus), .init(.normal), .init(.init(rawValue: 4999), reason: "é")] {
            #expect(try WebSocketClosure(payload: closure.payload) == closure)
        }
        let fault = #expect(throws: WebSocketFault.self) { try WebSocketClosure(payload: [0x03, 0xE8, 0xC0]) }
        #expect(fault?.code == .invalidPayload)
    }

    // MARK: Pings

    @Test func `a pong is the response to its ping and to those before it`() {
        var pings = WebSocketPings()
        let sent = (1...3).map { pings.send(at: .init(nanoseconds: $0)) }
        #expect(pings.oldest == .init(nanoseconds: 1))
        let unasked = [[], [UInt8](repeating: 9, count: 8)].flatMap { pings.receive($0, at: .init(nanoseconds: 9)) }
        #expect(unasked.isEmpty)
        let confirmed = pings.receive(sent[1].payload, at: .init(nanoseconds: 10))
        #expect(confirmed.map(\.id) == [sent[0].id, sent[1].id])
        #expect(confirmed.map(\.roundTrip) == [.nanoseconds(9), .nanoseconds(8)])
        let again = pings.receive(sent[1].payload, at: .init(nanoseconds: 11))
        #expect(again.isEmpty && pings.oldest == .init(nanoseconds: 3))
    }
}
