import HTTPLab
import NetworkClient
import Testing
import Validation

/// Validators with real servers, portals, proxies and certificates behind the loopback interface.
@Suite(.timeLimit(.minutes(5))) struct PathValidatorTests {
    private static let noContent = [ServerStep.response(status: "204 No Content")]

    /// Makes a validator of the loopback path.
    ///
    /// The limits are longer than the tests, so that no slow machine reaches them: an endpoint is never silent, and no round
    /// is repeated by itself.
    private static func validator(
        _ endpoints: [ValidationEndpoint?],
        tls: TLSOptions = .init(),
        proxy: ProxyConfiguration = .direct,
        isMetered: Bool = false,
        pause: Duration = .seconds(3_600)
    ) throws -> PathValidator {
        let configuration = ValidationConfiguration(
            endpoints: endpoints.compactMap(\.self),
            timeout: .seconds(600),
            secondOpinionDelay: .seconds(600),
            minimumInterval: pause
        )
        return try PathValidator(
            configuration,
            connectivity: LoopbackPath(isMetered: isMetered),
            tls: tls,
            proxy: proxy,
            receivesRouterEvents: false
        )
    }

    @Test func `a server that answers as configured validates the path, with one request`() async throws {
        let server = try AnsweringServer { _ in Self.noContent }
        let validator = try Self.validator([.http("\(server.url)/generate_204")])
        let report = try #require(await validator.verdicts.first { $0.verdict == .validated })
        #expect(report.path?.name == "lo")
        #expect(report.age(at: PathValidator.now).map { $0 >= .zero } == true)
        #expect(server.requests.value.map(\.target) == ["/generate_204"])
        #expect(validator.verdict.verdict == .validated)
    }

    @Test func `a probe takes no cookie along, and keeps none`() async throws {
        let fields = ["Set-Cookie: portal=1; Path=/", "Cache-Control: max-age=1000"]
        let server = try AnsweringServer { _ in [.response(status: "204 No Content", headers: fields)] }
        let validator = try Self.validator([.http(server.url)])
        for _ in 0..<3 { _ = await validator.check() }
        #expect(server.requests.value.count >= 3)
        #expect(server.requests.value.allSatisfy { $0["Cookie"] == nil && $0["Cache-Control"] != nil })
    }

    @Test func `a portal that redirects is named with its page`() async throws {
        let portal = try AnsweringServer { _ in
            [.response(status: "302 Found", headers: ["Location: http://hotel.example/login"])]
        }
        let validator = try Self.validator([.http(portal.url), .http("\(portal.url)/other")])
        let report = await validator.verdicts.first { $0.verdict != .notChecked }
        #expect(report?.verdict == .portal(.init(loginURL: "http://hotel.example/login")))
        #expect(portal.requests.value.count == 2)
    }

    @Test(arguments: [300_000, 9])
    func `a portal whose redirect has a body that is too large, or cut off, is named with its page`(
        length: Int
    ) async throws {
        let head = "HTTP/1.1 302 Found\r\nLocation: http://hotel.example/login\r\nContent-Length: \(length)\r\n\r\n"
        let body = length == 9 ? "Log" : String(repeating: "x", count: length)
        let portal = try AnsweringServer { _ in [.send(head + body), .halfClose] }
        let report = await (try Self.validator([.http(portal.url)])).check()
        #expect(report.verdict == .portal(.init(loginURL: "http://hotel.example/login")))
    }

    @Test func `a portal that answers 200 to everything is named`() async throws {
        let portal = try AnsweringServer { _ in [.response("<html>Log in</html>")] }
        #expect(await (try Self.validator([.http(portal.url)])).check().verdict == .portal(.init()))
    }

    @Test func `a portal's page is no proof where 200 is the configured status`() async throws {
        let portal = try AnsweringServer { _ in [.response("<html>Log in</html>")] }
        let report = await (try Self.validator([.http(portal.url, expecting: .status(200))])).check()
        #expect(report.verdict == .notChecked)
        #expect(Self.strengths(report).isEmpty)
    }

    @Test func `a server that is cut off within the configured body is no portal`() async throws {
        let start = ServerStep.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsucc")
        let server = try AnsweringServer { _ in [start, .halfClose] }
        let report = await (try Self.validator([.http(server.url, expecting: .body("success"))])).check()
        #expect(report.verdict == .noInternet(.connectionCut))
    }

    @Test func `a portal's page that is larger than a probe reads is one all the same`() async throws {
        let page = String(repeating: "x", count: 300_000)
        let portal = try AnsweringServer { _ in [.response(page)] }
        #expect(await (try Self.validator([.http(portal.url)])).check().verdict == .portal(.init()))
    }

    @Test func `an endpoint that is down is told from the path`() async throws {
        let server = try AnsweringServer { _ in Self.noContent }
        let down = ValidationEndpoint.tcp("127.0.0.1", port: 1)
        let report = await (try Self.validator([down, .http(server.url)])).check()
        #expect(report.verdict == .validated)
        #expect(report.endpointsInTrouble.map(\.endpoint) == [down])
    }

    @Test func `a connection without TLS and with it are told apart by what they prove`() async throws {
        let authority = try CertificateAuthority()
        let nginx = try Nginx(certifiedBy: authority)
        let port = Int(nginx.securePort)
        let trusting = TLSOptions(roots: try .only(authority.root.der))
        let proven = await (try Self.validator([.tls("127.0.0.1", port: port)], tls: trusting)).check()
        #expect(Self.strengths(proven) == [.authenticated])
        let connected = await (try Self.validator([.tcp("127.0.0.1", port: port)])).check()
        #expect(Self.strengths(connected) == [.connection])
    }

    private static func strengths(_ report: ValidationReport) -> [ProofStrength] {
        guard case .probes(let findings) = report.evidence else { return [] }
        return findings.compactMap { if case .succeeded(let strength) = $0.meaning { strength } else { nil } }
    }

    @Test func `a certificate of another authority is an interception, over https and TLS`() async throws {
        let nginx = try Nginx(certifiedBy: CertificateAuthority("Hotel"))
        let own = TLSOptions(roots: try .only(CertificateAuthority("Own").root.der))
        let port = Int(nginx.securePort)
        for endpoint in [ValidationEndpoint.http("https://127.0.0.1:\(port)/"), .tls("127.0.0.1", port: port)] {
            let report = await (try Self.validator([endpoint], tls: own)).check()
            guard case .noInternet(.interception(let text)) = report.verdict else {
                Issue.record("\(report)")
                continue
            }
            #expect(text.contains("Hotel"))
        }
    }

    @Test func `a proxy that asks for a login is named`() async throws {
        let proxy = try AnsweringServer { _ in
            let fields = ["Proxy-Authenticate: Basic realm=\"office\""]
            return [.response(status: "407 Proxy Authentication Required", headers: fields)]
        }
        let all = ProxyConfiguration.all(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
        for url in ["http://own.example/", "https://own.example/"] {
            #expect(await (try Self.validator([.http(url)], proxy: all)).check().verdict == .noInternet(.proxyLogin))
        }
    }

    @Test func `a metered path is not probed until a check is requested`() async throws {
        let server = try AnsweringServer { _ in Self.noContent }
        let validator = try Self.validator([.http(server.url)], isMetered: true)
        let first = await validator.verdicts.first { $0.path != nil }
        #expect(first?.verdict == .notChecked)
        #expect(server.requests.value.isEmpty)
        #expect(await validator.check().verdict == .validated)
        #expect(server.requests.value.count == 1)
    }

    /// Counts the requests of a session that have ended, after the monitors before it were told.
    private struct EndCounter: EventMonitor {
        let ends = Observed(0)

        func request(_ request: RequestHandle, did event: RequestEvent) {
            if case .finished = event { ends.update { $0 += 1 } }
        }
    }

    @Test func `an observed request counts as validation if its server has proved itself over https`() async throws {
        let authority = try CertificateAuthority()
        let nginx = try Nginx(certifiedBy: authority)
        _ = try nginx.files.write("data", "1")
        let secure = "https://127.0.0.1:\(nginx.securePort)/data"
        let server = try AnsweringServer { _ in Self.noContent }
        let portal = try AnsweringServer { _ in [.response(status: "302 Found", headers: ["Location: \(secure)"])] }
        let tls = TLSOptions(roots: try .only(authority.root.der))
        let validator = try Self.validator([.http(server.url)], tls: tls, isMetered: true)
        let counter = EndCounter()
        var configuration = validator.observing(.init(tls: tls, proxy: .direct))
        configuration.eventMonitors.append(counter)
        let session = try HTTPSession(configuration: configuration)

        // Plain HTTP, a redirect of plain HTTP to a page with a certificate, and a request with TLS options of its own.
        _ = try await session.get("http://127.0.0.1:\(nginx.port)/data").response()
        _ = try await session.get(portal.url).response()
        _ = try await session.get(secure, options: .init(tls: tls)).response()
        try await counter.ends.wait(for: "the end of the requests") { $0 == 3 }
        // The validator handles one thing after the other: the requests, and then this.
        let unproven = await validator.verdicts.first { _ in true }
        #expect(unproven?.verdict == .notChecked)

        _ = try await session.get(secure).response()
        let report = await validator.verdicts.first { $0.verdict == .validated }
        #expect(report?.evidence == .traffic)
        #expect(server.requests.value.isEmpty)
    }

    @Test func `an observed request that fails has the path probed`() async throws {
        let server = try AnsweringServer { _ in Self.noContent }
        let validator = try Self.validator([.http(server.url)], pause: .milliseconds(1))
        _ = await validator.verdicts.first { $0.verdict == .validated }
        let session = try HTTPSession(configuration: validator.observing(.init(proxy: .direct)))
        _ = try? await session.get("http://127.0.0.1:1/").response()
        try await server.requests.wait(for: "a second probe") { $0.count == 2 }
    }

    @Test func `pins that are none, and TLS options that accept servers without proof, are refused`() throws {
        let pin = #expect(throws: HTTPError.self) {
            try Self.validator([.tls("own.example", pins: ["sha256/none"])])
        }
        #expect(pin?.code == .invalidConfiguration)
        let insecure = [
            TLSOptions(policy: .insecure), .init(policiesByHost: ["own.example": .insecure]),
            .init(challengeHandler: { _ in .accept }),
        ]
        for options in insecure {
            let error = #expect(throws: HTTPError.self) { try Self.validator([.tls("own.example")], tls: options) }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    // MARK: The end

    @Test func `a check ends when its task is cancelled, and the probe goes on`() async throws {
        let server = try AnsweringServer { _ in [.hold] }
        let validator = try Self.validator([.http(server.url)])
        try await server.requests.wait(for: "the probe") { $0.count == 1 }
        let check = Task { await validator.check() }
        check.cancel()
        #expect(await check.value.verdict == .notChecked)
        #expect(server.connections.map(\.clientEnd) == [nil])
    }

    @Test func `a validator that is released closes its connections, and ends its verdicts and checks`() async throws {
        let server = try AnsweringServer { _ in [.hold] }
        let verdicts: AsyncStream<ValidationReport>
        do {
            let validator = try Self.validator([.http(server.url)])
            verdicts = validator.verdicts
            try await server.requests.wait(for: "the probe") { $0.count == 1 }
        }
        for await report in verdicts { #expect(report.verdict == .notChecked) }
        try await server.wait(for: "the end of the connection") { $0.allSatisfy { $0.clientEnd != nil } }
    }
}
