import HTTPLab
import NetworkClient
import Testing
import Validation

/// Sessions that wait for a validator's verdict, behind a captive portal that responds with 200 to everything.
///
/// The portal is a proxy on this machine, through which all requests pass, probes included.
@Suite(.timeLimit(.minutes(5))) struct GatedSessionTests {
    /// A portal, and the servers behind it.
    private final class Portal: Sendable {
        /// The state of the network.
        struct State: Sendable {
            var isOpen = false
            /// What the network does in place of a server and the portal.
            var busy = false
            /// What it waits for before it does that.
            var held: ServerLatch?
            /// The targets that a server has answered, in order.
            var served: [String] = []
            /// The number of requests, except probes, that got the portal's page.
            var pages = 0
            var probes = 0
        }

        let state: Observed<State>
        let server: AnsweringServer

        static let page = ServerStep.response("<html>Log in</html>", headers: ["Set-Cookie: portal=1; Path=/"])

        init() throws {
            let state = Observed(State())
            self.state = state
            server = try AnsweringServer { request in Self.respond(request, state) }
        }

        private static func respond(_ request: AnsweringServer.Request, _ state: Observed<State>) -> [ServerStep] {
            if request.target.hasSuffix("/generate_204") {
                let state = state.update { state in
                    state.probes += 1
                    return state
                }
                if state.busy {
                    return (state.held.map { [.await($0)] } ?? [])
                        + [.response("busy", status: "503 Service Unavailable")]
                }
                return [state.isOpen ? .response(status: "204 No Content") : page]
            }
            let isOpen = state.update { state in
                if !state.isOpen { state.pages += 1 }
                return state.isOpen
            }
            let end = ServerStep.custom { _ in
                if isOpen { state.update { $0.served.append(request.target) } }
            }
            return [end, isOpen ? .response("here") : page]
        }

        var proxy: ProxyConfiguration {
            get throws { .all(try ProxyServer("http://127.0.0.1:\(server.port)")) }
        }

        func open() { state.update { $0.isOpen = true } }
    }

    /// Makes a validator of a path with the portal, whose probes are repeated soon.
    private static func validator(_ portal: Portal, isMetered: Bool = false) throws -> PathValidator {
        let configuration = ValidationConfiguration(
            endpoints: [ValidationEndpoint.http("http://own.example/generate_204")].compactMap(\.self),
            timeout: .seconds(600),
            secondOpinionDelay: .seconds(600),
            minimumInterval: .milliseconds(20),
            maximumInterval: .milliseconds(20),
            probesPerDay: 1_000_000
        )
        return try PathValidator(
            configuration,
            connectivity: LoopbackPath(isMetered: isMetered),
            proxy: portal.proxy,
            receivesRouterEvents: false
        )
    }

    private static func configuration(_ portal: Portal) throws -> HTTPConfiguration {
        .init(
            maximumConnectionsPerHost: 1_000,
            proxy: try portal.proxy,
            gate: .waitsForConnectivity(nil),
            retry: .standard,
            connectivity: LoopbackPath()
        )
    }

    private static func session(
        _ validator: PathValidator,
        _ portal: Portal,
        _ monitors: [any EventMonitor] = []
    ) throws -> HTTPSession {
        var configuration = try configuration(portal)
        configuration.eventMonitors += monitors
        return try HTTPSession(baseURL: "http://shop.example", configuration: validator.gating(configuration))
    }

    /// The requests that wait, and the order in which they are sent.
    private struct SendingOrder: EventMonitor {
        struct State: Sendable {
            var waiting: Set<UInt64> = []
            var sent: [UInt64] = []
            var heads = 0
            /// The maximum number of requests that were sent beyond two for each response.
            var excess = 0
        }

        let state = Observed(State())

        func request(_ request: RequestHandle, did event: RequestEvent) {
            switch event {
            case .waitingForConnectivity: state.update { _ = $0.waiting.insert(request.id) }
            case .attempt:
                state.update { state in
                    state.sent.append(request.id)
                    state.excess = max(state.excess, state.sent.count - 2 * state.heads)
                }
            case .head: state.update { $0.heads += 1 }
            default: break
            }
        }
    }

    @Test func `1,000 requests wait behind a portal, and are served once it opens, in steps, by priority`() async throws
    {
        let portal = try Portal()
        let validator = try Self.validator(portal)
        let order = SendingOrder()
        let session = try Self.session(validator, portal, [order])
        let requests = (0..<1_000).map { number in
            let priority: RequestPriority = number < 900 ? .normal : .high
            return session.get("\(number)", options: .init(priority: priority))
        }
        _ = await validator.verdicts.first { $0.verdict == .portal(.init()) }
        try await order.state.wait(for: "all requests at the gate") { $0.waiting.count == 1_000 }
        let probes = portal.state.value.probes
        try await portal.state.wait(for: "further probes") { $0.probes >= probes + 10 }
        #expect(order.state.value.sent.isEmpty)
        #expect(portal.state.value.pages == 0 && portal.state.value.served.isEmpty)
        #expect(requests.allSatisfy { !$0.isFinished })
        portal.open()
        for request in requests { #expect(try await request.string() == "here") }
        let state = portal.state.value
        #expect(state.pages == 0 && state.served.count == 1_000 && Set(state.served).count == 1_000)
        // All at once would be 1,000. One is sent first, eight after its response, and then two for each response; a few
        // more if responses take so long that others no longer wait for them.
        let sent = order.state.value
        #expect(sent.excess <= 14, "\(sent.excess)")
        let high = Set(requests[900...].map(\.id))
        let early = sent.sent.prefix(150).count { high.contains($0) }
        #expect(early >= 90, "\(early) of the first 150 have the high priority")
        #expect(session.cookies?.cookies.isEmpty == true)
    }

    @Test func `requests have a metered path probed while they wait, and no longer`() async throws {
        let portal = try Portal()
        let validator = try Self.validator(portal, isMetered: true)
        let session = try Self.session(validator, portal)
        _ = await validator.verdicts.first { $0.path != nil }
        #expect(portal.state.value.probes == 0)
        let cancelled = session.get("a")
        try await portal.state.wait(for: "probes") { $0.probes >= 3 }
        cancelled.cancel()
        _ = try? await cancelled.response()
        let request = session.get("b")
        portal.open()
        #expect(try await request.string() == "here")
        #expect(validator.verdict.verdict == .validated)
        let probes = portal.state.value.probes
        #expect(try await session.get("c").string() == "here")
        #expect(portal.state.value.probes == probes && portal.state.value.pages == 0)
    }

    @Test func `a path that can't be judged holds nothing back`() async throws {
        let portal = try Portal()
        let held = try ServerLatch()
        portal.state.update { ($0.busy, $0.isOpen, $0.held) = (true, true, held) }
        let validator = try Self.validator(portal)
        #expect(validator.validationStatus == .notChecked)
        held.open()
        let session = try Self.session(validator, portal)
        #expect(try await session.get("a").string() == "here")
        #expect(validator.validationStatus == .inconclusive && portal.state.value.probes > 0)
    }

    @Test func `without endpoints requests are sent, and those over https validate the path`() async throws {
        let authority = try CertificateAuthority()
        let nginx = try Nginx(certifiedBy: authority)
        _ = try nginx.files.write("data", "1")
        let validator = try PathValidator(
            .init(endpoints: []),
            connectivity: LoopbackPath(),
            receivesRouterEvents: false
        )
        _ = await validator.verdicts.first { $0.path != nil }
        #expect(validator.validationStatus == .inconclusive)
        let tls = TLSOptions(roots: try .only(authority.root.der))
        let configuration = HTTPConfiguration(tls: tls, proxy: .direct, connectivity: LoopbackPath())
        let session = try HTTPSession(configuration: validator.gating(configuration))
        #expect(try await session.get("https://127.0.0.1:\(nginx.securePort)/data").string() == "1")
        _ = await validator.verdicts.first { $0.verdict == .validated }
        #expect(validator.validationStatus == .validated)
    }

    @Test func `requests that take any response are sent at once, and their responses marked`() async throws {
        let portal = try Portal()
        let validator = try Self.validator(portal)
        let configuration = validator.gating(try Self.configuration(portal), requirement: .any)
        let session = try HTTPSession(baseURL: "http://shop.example", configuration: configuration)
        let response = try await session.get("a").response()
        #expect(response.mayBeFromPortal && session.cookies?.cookies.isEmpty == true)
        #expect(validator.verdict.verdict == .portal(.init()))
    }

    @Test func `a session keeps its validator`() async throws {
        let portal = try Portal()
        portal.open()
        let session: HTTPSession
        do { session = try Self.session(Self.validator(portal), portal) }
        #expect(try await session.get("a").string() == "here")
    }
}
