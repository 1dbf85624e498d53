import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// TLS through scripted HTTP and SOCKS proxies to a real nginx.
@Suite(.enabled(if: Nginx.isInstalled, "\(Nginx.advice)"), .timeLimit(.minutes(5)))
struct TunnelTests {
    private let authority: CertificateAuthority
    private let folder: LabFolder

    init() throws {
        authority = try CertificateAuthority()
        folder = try LabFolder()
    }

    private func run(_ body: (ProxyLab, Nginx) async throws -> Void) async throws {
        try await ProxyLab.run { lab in
            let nginx = try lab.nginx(authority.issue(["origin.example"], addresses: []), folder)
            try await body(lab, nginx)
        }
    }

    @Test func `a CONNECT tunnel leads to the origin, whose name and pin are verified`() async throws {
        try await run { lab, nginx in
            let open = ServerStep.send("HTTP/1.1 200 Connection established\r\nContent-Length: 9\r\n\r\n")
            let proxy = try lab.server(.readHead, open, .relay(toPort: nginx.securePort, cutAfter: nil))
            let pin = try SecurityPolicy(mode: .publicKey, pins: [.key(authority.root)])
            let session = try lab.session(by: proxy, user: "me:pw") { $0.tls = try .trusting(authority, pin) }
            let fields: HTTPFields = [.init("Proxy-Authorization") ?? .accept: "mine", .authorization: "theirs"]
            for count in 0..<2 {
                let response = try await session.get("https://origin.example/hello", headers: fields).response()
                #expect(response.bytes == Array("hello".utf8))
                #expect((response.metrics.tls != nil) == (count == 0))
            }
            #expect(proxy.connections.count == 1)
            let place = "origin.example:443"
            let head =
                "CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\nProxy-Authorization: Basic bWU6cHc=\r\n\r\n"
            #expect(proxy.connections[0].requests.map(\.head) == [head])
        }
    }

    @Test func `another host's certificate is refused through the tunnel too`() async throws {
        try await run { lab, nginx in
            let proxy = try lab.server(
                .readHead,
                .send("HTTP/1.1 200 OK\r\n\r\n"),
                .relay(toPort: nginx.securePort, cutAfter: nil)
            )
            let session = try lab.session(by: proxy) { $0.tls = try .trusting(authority) }
            let error = try await lab.failure(session, "https://other.example/")
            #expect(error.code == .certificateHostMismatch)
            #expect(error.processing == .neverSent)
            #expect(error.proxy == nil)
        }
    }

    @Test func `a response that is split at every byte, after interim ones, is parsed`() async throws {
        try await run { lab, nginx in
            let head = "HTTP/1.1 103 Early\r\n\r\nHTTP/1.0 200 OK\r\nX: y\r\n\r\n"
            let proxy = try lab.server(
                .readHead,
                .drip(Array(head.utf8), every: .milliseconds(1)),
                .relay(toPort: nginx.securePort, cutAfter: nil)
            )
            let session = try lab.session(by: proxy) { $0.tls = try .trusting(authority) }
            #expect(try await session.get("https://origin.example/hello").string() == "hello")
        }
    }

    @Test(arguments: ["socks5h", "socks5"])
    func `SOCKS leads to the origin, by its name or by its address`(scheme: String) async throws {
        try await run { lab, nginx in
            let reply: [UInt8] = [5, 0, 0, 1, 192, 0, 2, 9, 0, 80]
            let asked = scheme == "socks5h" ? 4 + 1 + 14 + 2 : 10
            let proxy = try lab.server(
                .readBytes(4),
                .drip([5, 2], every: .milliseconds(1)),
                .readBytes(3 + 2 + 2),
                .sendBytes([1, 0]),
                .readBytes(asked),
                .drip(reply, every: .milliseconds(1)),
                .relay(toPort: nginx.securePort, cutAfter: nil)
            )
            let lookup = ScriptedLookup()
            let session = try lab.session(by: proxy, scheme, user: "me:pw", resolver: lookup.resolver()) {
                $0.tls = try .trusting(authority)
            }
            let response = try await session.get("https://origin.example/hello").response()
            #expect(response.bytes == Array("hello".utf8))
            #expect(lookup.begun.value == (scheme == "socks5h" ? [] : ["origin.example"]))
            let start: [UInt8] = [5, 2, 0, 2, 1, 2, 109, 101, 2, 112, 119, 5, 1, 0]
            let destination = scheme == "socks5h" ? [3, 14] + Array("origin.example".utf8) : [1, 192, 0, 2, 1]
            #expect(proxy.connections[0].received.starts(with: start + destination + [1, 187]))
        }
    }

    @Test func `plain HTTP through SOCKS is as without a proxy`() async throws {
        try await run { lab, nginx in
            let proxy = try lab.server(
                .readBytes(3),
                .sendBytes([5, 0]),
                .readBytes(10),
                .sendBytes([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
                .forever([.readRequest, .response("plain")])
            )
            let session = try lab.session(by: proxy, "socks5h")
            for _ in 0..<2 { #expect(try await session.get("http://192.0.2.7/x").string() == "plain") }
            #expect(proxy.connections[0].received.dropFirst(3).starts(with: [5, 1, 0, 1, 192, 0, 2, 7, 0, 80]))
            #expect(
                proxy.connections[0].requests.first?.head.hasPrefix("GET /x HTTP/1.1\r\nHost: 192.0.2.7\r\n") == true
            )
        }
    }

    @Test func `of the origin's addresses the next is tried where the proxy can't reach one`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try ScriptedServer(in: lab.lab) { number in
                let code: UInt8 = number < 2 ? [4, 5][number] : 0
                return [
                    .readBytes(3), .sendBytes([5, 0]), .readBytes(10), .sendBytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]),
                    .readRequest, .response("third"),
                ]
            }
            let session = try lab.session(by: proxy, "socks5", resolver: ScriptedLookup().resolver())
            #expect(try await session.get("http://three.example/").string() == "third")
            let asked = proxy.connections.map { $0.received.dropFirst(3).prefix(8).last }
            #expect(asked == [1, 2, 3])
        }
    }
}
