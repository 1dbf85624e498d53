import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Proxies that refuse, stall, close and violate the protocol, at each step.
@Suite(.timeLimit(.minutes(5)))
struct ProxyFaultTests {
    /// The behaviour of a proxy, and the error of a request.
    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var scheme = "http"
        var user = ""
        var steps: [ServerStep]
        var code: HTTPError.Code
        var words: String

        var testDescription: String { "\(scheme): \(name)" }
    }

    private static func response(_ status: String, _ code: HTTPError.Code, _ words: String, user: String = "") -> Fault
    {
        let steps: [ServerStep] = [.readHead, .response("because", status: status), .readToEnd]
        return .init(name: status, user: user, steps: steps, code: code, words: words)
    }

    static let responses = [
        response("403 Forbidden", .proxyRefused, "responded with 403 Forbidden"),
        response("405 Not Allowed", .proxyRefused, "responded with 405 Not Allowed"),
        response("302 Found", .proxyRefused, "responded with 302 Found"),
        response("101 Switching", .proxyRefused, "responded with 101 Switching"),
        response("500 Oops", .proxyConnectFailed, "can't connect to origin.example:443: it responded with 500 Oops"),
        response("503 ", .proxyConnectFailed, "responded with 503"),
        response("429 Too Many", .proxyConnectFailed, "responded with 429"),
        response("407 Who", .proxyAuthenticationRequired, "wants a user name and a password"),
        response("407 Who", .proxyAuthenticationRequired, "does not take the user 'me'", user: "me:sec1et"),
        response("401 Who", .proxyAuthenticationRequired, "does not take the user 'me'", user: "me:sec1et"),
        Fault(
            name: "offers only NTLM",
            user: "me:sec1et",
            steps: [
                .readHead, .response("because", status: "407 Who", headers: ["Proxy-Authenticate: NTLM"]), .readToEnd,
            ],
            code: .proxyAuthenticationRequired,
            words: "offers only NTLM"
        ),
    ]

    private static func odd(
        _ name: String,
        _ steps: [ServerStep],
        _ code: HTTPError.Code,
        _ words: String,
        scheme: String = "http"
    ) -> Fault {
        .init(name: name, scheme: scheme, steps: steps, code: code, words: words)
    }

    static let oddities = [
        odd("closes at once", [.readHead], .connectionLost, "closed the connection before it led to"),
        odd("resets", [.readHead, .reset], .connectionLost, "connection"),
        odd("closes in its head", [.readHead, .send("HTTP/1.1 200 O")], .connectionLost, "closed the connection"),
        odd(
            "is no proxy",
            [.send("220 mail ready\r\n"), .readToEnd],
            .invalidProxyAnswer,
            "does not respond as a proxy"
        ),
        odd(
            "has a head without end",
            [.readHead, .send("HTTP/1.1 200 OK\r\n"), .flood(Array("X: yyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".utf8))],
            .invalidProxyAnswer,
            "is larger than"
        ),
        odd(
            "refuses without a length, and closes",
            [.readHead, .send("HTTP/1.1 403 No\r\n\r\nbecause")],
            .proxyRefused,
            "responded with 403 No"
        ),
    ]

    private static func reply(_ code: UInt8, _ kind: HTTPError.Code, _ words: String) -> Fault {
        let steps: [ServerStep] = [
            .readBytes(3), .sendBytes([5, 0]), .readBytes(21), .sendBytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]),
            .readToEnd,
        ]
        return .init(name: "replies \(code)", scheme: "socks5h", steps: steps, code: kind, words: words)
    }

    static let replies = [
        reply(1, .proxyConnectFailed, "it failed"), reply(2, .proxyRefused, "its rules do not allow"),
        reply(3, .proxyConnectFailed, "no route to that network"), reply(4, .proxyConnectFailed, "can't be reached"),
        reply(5, .proxyConnectFailed, "was refused"), reply(6, .proxyConnectFailed, "time to live"),
        reply(7, .proxyRefused, "makes no connections"), reply(8, .proxyRefused, "no addresses of that kind"),
        reply(9, .proxyConnectFailed, "unknown code 9"),
        odd(
            "takes nobody",
            [.readBytes(3), .sendBytes([5, 0xFF]), .readToEnd],
            .proxyAuthenticationRequired,
            "wants a user name",
            scheme: "socks5h"
        ),
        odd(
            "speaks HTTP",
            [.send("HTTP/1.1 400 No\r\n\r\n"), .readToEnd],
            .invalidProxyAnswer,
            "speaks HTTP",
            scheme: "socks5h"
        ),
        odd("closes at once", [.readBytes(3)], .connectionLost, "closed the connection", scheme: "socks5h"),
        odd(
            "closes before its reply",
            [.readBytes(3), .sendBytes([5, 0]), .readBytes(21)],
            .connectionLost,
            "closed the connection",
            scheme: "socks5h"
        ),
        Fault(
            name: "does not take the password",
            scheme: "socks5h",
            user: "me:sec1et",
            steps: [.readBytes(4), .sendBytes([5, 2]), .readBytes(11), .sendBytes([1, 1]), .readToEnd],
            code: .proxyAuthenticationRequired,
            words: "does not take the user 'me'"
        ),
    ]

    @Test(arguments: responses + oddities + replies)
    func `each fault has its code and its words`(fault: Fault) async throws {
        try await ProxyLab.run { lab in
            let proxy = try ScriptedServer(in: lab.lab, always: fault.steps)
            let before = try lab.loops.sockets()
            let session = try lab.session(by: proxy, fault.scheme, user: fault.user)
            let error = try await lab.failure(session, "https://origin.example/x")
            #expect(error.code == fault.code)
            #expect(error.processing == .neverSent)
            #expect(error.reason.contains(fault.words), "\(error.reason)")
            #expect(!"\(error)".contains("sec1et"))
            #expect(error.proxy == "\(fault.scheme)://127.0.0.1:\(proxy.port)")
            try await proxy.waitForEnds()
            try await lab.loops.waitForSockets(before)
        }
    }

    @Test(arguments: responses)
    func `the proxy's response is kept, with the beginning of its body`(fault: Fault) async throws {
        try await ProxyLab.run { lab in
            let proxy = try ScriptedServer(in: lab.lab, always: fault.steps)
            let error = try await lab.failure(lab.session(by: proxy, user: fault.user), "https://origin.example/x")
            #expect(
                error.response.map { "\($0.status.code)" } == fault.name.split(separator: " ").first.map(String.init)
            )
            // After 101, the bytes belong to another protocol.
            let body = error.response?.status == .switchingProtocols ? "" : "because"
            #expect(error.body == Array(body.utf8))
        }
    }

    /// The steps at which a proxy stalls; the connect timeout ends each.
    static let stalls: [(String, [ServerStep])] = [
        ("http", [.readHead, .hold]), ("http", [.readHead, .send("HTTP/1.1 200 OK\r\n"), .hold]), ("http", [.hold]),
        ("https", [.hold]), ("socks5h", [.hold]), ("socks5h", [.readBytes(3), .sendBytes([5]), .hold]),
        ("socks5h", [.readBytes(3), .sendBytes([5, 0]), .hold]),
        ("socks5h", [.readBytes(3), .sendBytes([5, 0]), .readBytes(21), .sendBytes([5, 0, 0, 1, 0]), .hold]),
    ]

    @Test(arguments: stalls.indices)
    func `a stalled proxy fails at the connect timeout`(index: Int) async throws {
        try await ProxyLab.run { lab in
            let (scheme, steps) = Self.stalls[index]
            let proxy = try ScriptedServer(in: lab.lab, always: steps)
            let session = try lab.session(by: proxy, scheme) { $0.timeouts.connect = .milliseconds(500) }
            let error = try await lab.failure(session, "https://origin.example/x")
            #expect(error.code == .connectTimedOut)
            #expect(error.processing == .neverSent)
            #expect(error.proxy == "\(scheme)://127.0.0.1:\(proxy.port)")
            try await proxy.waitForEnds()
        }
    }

    @Test func `a refusal with an endless body is reported at the timeout`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try lab.server(.readHead, .send("HTTP/1.1 403 No\r\n\r\nbecau"), .hold)
            let session = try lab.session(by: proxy) { $0.timeouts.connect = .milliseconds(500) }
            let error = try await lab.failure(session, "https://origin.example/x")
            #expect([.proxyRefused, .connectTimedOut].contains(error.code))
        }
    }

    @Test func `a proxy that is not there is named`() async throws {
        try await ProxyLab.run { lab in
            for url in ["http://origin.example/", "https://origin.example/"] {
                let error = try await lab.failure(lab.session(.all(.init("127.0.0.1:9"))), url)
                #expect(error.code == .connectionRefused)
                #expect(error.errno == 111)
                #expect(error.proxy == "http://127.0.0.1:9")
                #expect(error.reason.hasPrefix("the proxy for origin.example:"))
            }
            let lost = try lab.session(.all(.init("missing.example:9")), resolver: ScriptedLookup().resolver())
            let error = try await lab.failure(lost)
            #expect(error.code == .nameNotFound)
            #expect(error.proxy == "http://missing.example:9")
            let socks = try lab.session(.all(.init("socks5://127.0.0.1:9")), resolver: ScriptedLookup().resolver())
            let other = try await lab.failure(socks, "http://missing.example/")
            #expect(other.code == .nameNotFound)
            #expect(other.proxy == nil)
        }
    }

    @Test func `a cancelled request leaves no resources, at any step of the negotiation`() async throws {
        try await ProxyLab.run { lab in
            for (scheme, steps) in Self.stalls {
                let proxy = try ScriptedServer(in: lab.lab, always: steps)
                let before = try lab.loops.sockets()
                let request = try lab.session(by: proxy, scheme).get("https://origin.example/x")
                try await proxy.wait(for: "the connection") { !$0.isEmpty }
                request.cancel()
                let error = await #expect(throws: HTTPError.self) { try await request.response() }
                #expect(error?.code == .cancelled)
                try await proxy.waitForEnds()
                try await lab.loops.waitForSockets(before)
            }
        }
    }
}
