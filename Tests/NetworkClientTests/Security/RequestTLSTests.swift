import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// TLS options of single requests.
@Suite(.timeLimit(.minutes(5)))
struct RequestTLSTests {
    private let authority: CertificateAuthority

    init() throws { authority = try CertificateAuthority() }

    /// Runs a test with a server and a session that trusts nothing, or what the test says.
    private func run(
        _ options: TLSOptions? = nil,
        _ body: (HTTPSession) async throws -> Void
    ) async throws -> TLSServerRecord {
        let trusting = try TLSOptions.trusting(authority)
        let server = try await TLSServer.start(TLSTrial(try authority.issue(), trusting))
        let session = try HTTPSession(
            baseURL: server.url,
            configuration: .init(
                timeouts: .lasting,
                tls: options ?? .init(roots: try .only(CertificateAuthority("Other").root.der))
            )
        )
        try await body(session)
        try await server.stop()
        return server.record.value
    }

    @Test func `a request's options replace those of the session`() async throws {
        let trusting = try TLSOptions.trusting(authority)
        _ = try await run { (session: HTTPSession) async throws in
            let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
            #expect(error?.code == .certificateUntrusted)
            #expect(try await session.get("", options: .init(tls: trusting)).response().status == 204)
        }
    }

    @Test func `connections are shared by requests with equal options only`() throws {
        let cache = RequestTLSCache()
        let trusting = try TLSOptions.trusting(authority)
        var endpoint = Endpoint("localhost")
        endpoint.tls = try cache.tls(for: trusting)
        var equal = endpoint
        equal.tls = try cache.tls(for: TLSOptions.trusting(authority))
        #expect(equal == endpoint)
        #expect(equal.tls === endpoint.tls)
        equal.tls = try RequestTLSCache().tls(for: trusting)
        #expect(equal == endpoint)
        #expect(equal.hashValue == endpoint.hashValue)
        for change: @Sendable (inout TLSOptions) -> Void in [
            { $0.minimumVersion = .tls13 }, { $0.policy = .insecure }, { $0.roots = .system },
            { $0.policiesByHost = ["a": .standard] }, { $0.challengeHandler = { _ in .usePolicy } },
        ] {
            var options = trusting
            change(&options)
            equal.tls = try cache.tls(for: options)
            #expect(equal != endpoint)
        }
        equal.tls = nil
        #expect(equal != endpoint)
        var own = trusting
        own.challengeHandler = { _ in .accept }
        #expect(try cache.tls(for: own) != cache.tls(for: own))
    }

    @Test func `a handler of one request decides for that request, and is told which it is`() async throws {
        let seen = Observed<[ServerChallenge]>([])
        _ = try await run { (session: HTTPSession) async throws in
            var options = TLSOptions()
            options.challengeHandler = { challenge in
                seen.update { $0.append(challenge) }
                return .accept
            }
            let request = session.get("a?b=c", options: .init(tls: options))
            #expect(try await request.response().status == 204)
            let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
            #expect(error?.code == .certificateUntrusted)
            #expect(seen.value.map(\.requestID) == [request.id])
            let text = seen.value.first?.request
            #expect(text?.hasPrefix("GET https://127.0.0.1:") == true)
            #expect(text?.hasSuffix("/a") == true)
        }
    }

    @Test func `the session's handler is told for which request a connection is opened`() async throws {
        let seen = Observed<[UInt64]>([])
        var options = try TLSOptions.trusting(authority)
        options.challengeHandler = { challenge in
            seen.update { $0.append(challenge.requestID) }
            return .usePolicy
        }
        _ = try await run(options) { (session: HTTPSession) async throws in
            let first = session.get("")
            _ = try await first.response()
            #expect(seen.value == [first.id])
        }
    }

    @Test func `pins for a URL without TLS, and options that contradict themselves, fail the request`() async throws {
        let session = try HTTPSession()
        let policy = try SecurityPolicy(mode: .publicKey, pins: [.key(authority.root)])
        let options = RequestOptions(tls: .init(policy: policy))
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("http://127.0.0.1/", options: options).response()
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.contains("the URL is http") == true)
        let contradictory = RequestOptions(tls: .init(policy: .init(mode: .publicKey)))
        let other = await #expect(throws: HTTPError.self) {
            try await session.get("https://127.0.0.1/", options: contradictory).response()
        }
        #expect(other?.code == .invalidConfiguration)
    }

    @Test func `a cache has no responses of servers that were not proven`() async throws {
        let cache = HTTPCache()
        let trusting = try TLSOptions.trusting(authority)
        let server = try await TLSServer.start(TLSTrial(try authority.issue(), trusting))
        func session(_ tls: TLSOptions) throws -> HTTPSession {
            try HTTPSession(
                baseURL: server.url,
                configuration: .init(timeouts: .lasting, tls: tls, cache: cache, cachePolicy: .returnCacheElseLoad)
            )
        }
        let strict = try session(.init(roots: .only(CertificateAuthority("Other").root.der)))
        for request in [
            strict.get("", options: .init(tls: .init(policy: .insecure))),
            strict.get("", options: .init(tls: trusting)),
            try session(.init(policy: .insecure)).get(""),
        ] { #expect(try await request.response().source == .network) }
        #expect(cache.size == 0)
        let refusal = await #expect(throws: HTTPError.self) { try await strict.get("").response() }
        #expect(refusal?.code == .certificateUntrusted)
        // What a session has stored is for its own TLS options.
        let proving = try session(trusting)
        for source in [ResponseSource.network, .stale(.policy)] {
            #expect(try await proving.get("").response().source == source)
        }
        let own = RequestOptions(tls: trusting)
        #expect(try await proving.get("", options: own).response().source == .network)
        #expect(try await session(.init(policy: .insecure)).get("").response().source == .network)
        let unused = RequestOptions(tls: trusting, cachePolicy: .returnCacheDontLoad)
        let missing = await #expect(throws: HTTPError.self) { try await proving.get("", options: unused).response() }
        #expect(missing?.code == .notCached)
        try await server.stop()
    }

    @Test func `a redirected request keeps its options`() throws {
        let cache = RequestTLSCache()
        var endpoint = Endpoint("localhost")
        endpoint.tls = try cache.tls(for: .trusting(authority))
        endpoint.serviceType = .background
        let next = try endpoint.leading(to: HTTPURL("https://127.0.0.1:4/"), by: RequestPolicy(HTTPConfiguration()))
        #expect(next.tls === endpoint.tls)
        #expect(next.serviceType == .background)
    }
}
