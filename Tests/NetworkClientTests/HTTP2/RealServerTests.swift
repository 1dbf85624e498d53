import HTTPLab
import NIOCore
import NetworkLab
import Testing

@testable import NetworkClient

/// HTTP/2 with the servers of Debian.
@Suite(.enabled(if: HTTP2Server.areInstalled, Comment(rawValue: HTTP2Server.advice)), .timeLimit(.minutes(5)))
struct HTTP2RealServerTests {
    @Test(arguments: HTTP2Server.Program.allCases, [false, true])
    func `requests share one connection`(_ program: HTTP2Server.Program, isSecure: Bool) async throws {
        let authority = try CertificateAuthority()
        try await withPatience(program, identity: isSecure ? authority.issue() : nil) { server in
            let session = try HTTPSession(baseURL: server.url + "/", configuration: .http2(authority))
            let requests = (0..<64).map { session.get($0 % 8 == 0 ? "large.bin" : "small.txt") }
            for (number, request) in requests.enumerated() {
                let response = try await request.response()
                #expect(response.status == 200)
                #expect(response.bytes.count == (number % 8 == 0 ? 1_000_000 : 1000))
                #expect(response.metrics.version == "HTTP/2")
            }
            #expect(Set(requests.compactMap { $0.metrics?.localAddress }).count == 1)
            #expect(try await session.get("absent").response().status == 404)
            #expect(session.requests.isEmpty)
            session.invalidate()
            try server.stop()
        }
    }

    @Test func `requests share a connection through a tunnel of a proxy`() async throws {
        let authority = try CertificateAuthority()
        try await withPatience(identity: authority.issue()) { server in
            let proxy = try ScriptedServer(always: [
                .readHead, .send("HTTP/1.1 200 OK\r\n\r\n"), .relay(toPort: server.port, cutAfter: nil),
            ])
            var configuration = try HTTPConfiguration.http2(authority)
            configuration.proxy = .all(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
            let session = try HTTPSession(baseURL: server.url + "/", configuration: configuration)
            let requests = (0..<20).map { _ in session.get("small.txt") }
            for request in requests { #expect(try await request.response().metrics.version == "HTTP/2") }
            #expect(proxy.connections.count == 1)
        }
    }

    @Test func `with HTTP/2 off, requests use HTTP/1.1`() async throws {
        let authority = try CertificateAuthority()
        let server = try HTTP2Server(.nginx, identity: authority.issue())
        var configuration = try HTTPConfiguration.http2(authority)
        configuration.http2 = .off
        let session = try HTTPSession(baseURL: server.url + "/", configuration: configuration)
        #expect(try await session.get("small.txt").response().metrics.version == "HTTP/1.1")
    }

    @Test func `requests of a server without HTTP/2 fall back together`() async throws {
        let authority = try CertificateAuthority()
        // Each response takes half a second, so that one connection does not serve all requests before the others are made.
        let nginx = try Nginx(certifiedBy: authority, directives: ["limit_rate 20k;"])
        try nginx.files.write("large.bin", [UInt8](repeating: 7, count: 30_000))
        let session = try HTTPSession(
            baseURL: "https://127.0.0.1:\(nginx.securePort)/",
            configuration: .http2(authority)
        )
        let requests = (0..<24).map { _ in session.get("large.bin") }
        for request in requests { #expect(try await request.response().metrics.version == "HTTP/1.1") }
        #expect(Set(requests.compactMap { $0.metrics?.localAddress }).count == 6)
    }

    @Test func `another connection is opened when one has no free stream`() async throws {
        try await withPatience(streams: 2) { server in
            let session = try HTTPSession(baseURL: server.url + "/", configuration: .http2())
            #expect(try await session.get("small.txt").response().status == 200)
            let requests = (0..<40).map { _ in session.get("large.bin") }
            for request in requests { #expect(try await request.bytes().count == 1_000_000) }
            #expect((2...6).contains(Set(requests.compactMap { $0.metrics?.localAddress }).count))
        }
    }

    /// Runs a test with a server; again if nghttpd has closed a connection because SETTINGS was not acknowledged within ten
    /// seconds, which a busy machine may take.
    private func withPatience(
        _ program: HTTP2Server.Program = .nghttpd,
        identity: @autoclosure () throws -> MintedIdentity? = nil,
        streams: Int? = nil,
        _ body: (HTTP2Server) async throws -> Void
    ) async throws {
        for attempt in 1...5 {
            let isVerbose = program == .nghttpd
            let server = try HTTP2Server(program, identity: identity(), streams: streams, isVerbose: isVerbose)
            do { return try await body(server) } catch {
                let ends = try server.endsOfConnections
                if attempt < 5, ends.contains(where: { $0.contains("SETTINGS_TIMEOUT") }) { continue }
                Issue.record("\(error); what the server says: \(ends)")
                return
            }
        }
    }

    @Test func `requests beyond the last of a connection are resent on another one`() async throws {
        let server = try HTTP2Server(.nginx, requests: 100)
        let session = try HTTPSession(baseURL: server.url + "/", configuration: .http2())
        let requests = (0..<500).map { _ in session.post("accept", body: .bytes([1, 2, 3])) }
        for request in requests { #expect(try await request.response().status == 200) }
        #expect(session.requests.isEmpty)
    }

    @Test func `uploads are sent as far as the server's window allows`() async throws {
        let server = try HTTP2Server(.nginx)
        let session = try HTTPSession(baseURL: server.url + "/", configuration: .http2())
        let body = RequestBody.bytes([UInt8](repeating: 7, count: 3_000_000))
        let requests = (0..<8).map { _ in session.put("accept", body: body) }
        for request in requests { #expect(try await request.response().status == 200) }
    }

    @Test func `a slow reader of one response stops no other`() async throws {
        try await withPatience { server in
            let session = try HTTPSession(baseURL: server.url + "/", configuration: .http2())
            // More than the window of the connection.
            var slow: [StreamedResponse] = []
            for _ in 0..<30 { slow.append(try await session.stream(.get, "large.bin").response()) }
            #expect(try await session.get("large.bin").bytes().count == 1_000_000)
            for response in slow { #expect(try await response.body.collect(upTo: 1 << 20).readableBytes == 1_000_000) }
        }
    }

    @Test func `thousands of early cancels leave the connection usable`() async throws {
        // Without its frames: it takes long to print so many.
        let server = try HTTP2Server(.nghttpd)
        let session = try HTTPSession(baseURL: server.url + "/", configuration: .http2())
        for round in 0..<20 {
            let requests = (0..<150).map { _ in session.get("large.bin") }
            let tasks = requests.map { request in Task { try await request.response() } }
            if round % 2 == 1 { await Task.yield() }
            for request in requests { request.cancel() }
            for task in tasks { _ = await task.result }
        }
        #expect(try await session.get("large.bin").bytes().count == 1_000_000)
        #expect(session.requests.isEmpty)
        let core = session.core
        #expect(try await core.loop.submit { core.pools.connectionCount }.get() <= 6)
    }
}

extension HTTPConfiguration {
    /// A configuration with lasting timeouts that uses HTTP/2 over TLS and over plain TCP.
    static func http2(_ authority: CertificateAuthority? = nil) throws -> Self {
        .init(timeouts: .lasting, tls: try authority.map { try .trusting($0) } ?? .init(), http2: .priorKnowledge)
    }
}
