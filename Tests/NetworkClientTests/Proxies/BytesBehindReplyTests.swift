import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Proxies whose reply is followed by more bytes in the same segment, which belong to the tunnel.
@Suite(.timeLimit(.minutes(5)))
struct BytesBehindReplyTests {
    private static func socks(_ behind: String, _ steps: ServerStep...) -> [ServerStep] {
        let reply: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        return [.readBytes(3), .sendBytes([5, 0]), .readBytes(10), .sendBytes(reply + Array(behind.utf8))] + steps
    }

    @Test func `a response in the same segment as a SOCKS reply is the response to the request`() async throws {
        try await ProxyLab.run { lab in
            let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly"
            let proxy = try ScriptedServer(in: lab.lab, always: Self.socks(response, .readRequest, .readToEnd))
            let session = try lab.session(by: proxy, "socks5h")
            #expect(try await session.get("http://192.0.2.7/x").string() == "early")
            #expect(proxy.connections.count == 1)
        }
    }

    /// Bytes after a reply that are not a response, and the error of the request.
    static let nonsense: [(behind: String, code: HTTPError.Code)] = [
        ("nonsense\r\n\r\n", .invalidResponse), ("\0", .invalidResponse),
        ("HTTP/1.1 200 OK\r\nContent-Le", .connectionLost),
    ]

    @Test(arguments: nonsense.indices)
    func `invalid bytes after a SOCKS reply fail the request without a retry`(index: Int) async throws {
        try await ProxyLab.run { lab in
            let (behind, code) = Self.nonsense[index]
            let proxy = try ScriptedServer(in: lab.lab, always: Self.socks(behind, .readRequest))
            let error = try await lab.failure(lab.session(by: proxy, "socks5h"), "http://192.0.2.7/x")
            #expect(error.code == code)
            #expect(proxy.connections.count == 1)
        }
    }

    @Test func `a proxy that closes after its reply fails the request without a retry`() async throws {
        try await ProxyLab.run { lab in
            let proxy = try ScriptedServer(in: lab.lab, always: Self.socks("", .close))
            let error = try await lab.failure(lab.session(by: proxy, "socks5h"), "http://192.0.2.7/x")
            #expect(error.code == .connectionLost)
            #expect(proxy.connections.count == 1)
        }
    }

    @Test(arguments: ["http", "socks5h"])
    func `invalid bytes after a reply fail the TLS handshake without a retry`(scheme: String) async throws {
        try await ProxyLab.run { lab in
            let steps: [ServerStep] =
                scheme == "http"
                ? [.readHead, .send("HTTP/1.1 200 OK\r\n\r\nnonsense\r\n\r\n"), .readToEnd]
                : Self.socks("nonsense\r\n\r\n", .readToEnd)
            let proxy = try ScriptedServer(in: lab.lab, always: steps)
            let error = try await lab.failure(lab.session(by: proxy, scheme), "https://192.0.2.7/x")
            #expect(error.code == .tlsFailed, "\(error)")
            #expect(error.processing == .neverSent)
            #expect(proxy.connections.count == 1)
        }
    }
}
