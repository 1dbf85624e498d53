import NetworkClient
import NetworkClientTesting
import Testing

/// The scripted network, as a user's tests see it: waiting, release and requirements without a network.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedMonitorTests {
    private let transport = ScriptedTransport()

    private func session(
        _ network: ScriptedMonitor,
        gate: GatePolicy = .waitsForConnectivity(nil),
        requirement: PathRequirement = .any,
        retry: RetryPolicy = .never
    ) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "https://api.example.com/v1",
            configuration: .init(
                timeouts: .lasting,
                transport: transport,
                gate: gate,
                requirement: requirement,
                retry: retry,
                connectivity: network
            )
        )
    }

    @Test func `a request waits while there is no path, and is released when it returns`() async throws {
        let network = ScriptedMonitor(.notReachable)
        transport.expect(.get, "/v1/a", .text("yes"))
        let request = try session(network).get("a", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        try await network.waitUntilWatched()
        var reason: String?
        for await case .waitingForConnectivity(let text) in events {
            reason = text
            break
        }
        #expect(transport.requests.isEmpty && request.state == .waiting)
        network.status = .wifi
        #expect(try await request.string() == "yes")
        // The name may be looked up while the request waits.
        #expect(
            reason == "a path to 192.0.2.1 (path.noRoute)" || reason == "a path to api.example.com (path.noRoute)"
        )
        try transport.verify()
    }

    @Test func `a request that must not use cellular waits for Wi-Fi`() async throws {
        let network = ScriptedMonitor(.cellular)
        transport.expect(.get, "/v1/a", .text("yes"))
        let session = try session(network, requirement: .notCellular)
        let request = session.get("a")
        try await network.waitUntilWatched()
        #expect(request.state == .waiting)
        network.status = .notReachable
        network.status = .cellular
        #expect(transport.requests.isEmpty)
        network.status = .wifi
        #expect(try await request.string() == "yes")
        let refused = await #expect(throws: HTTPError.self) {
            network.status = .cellular
            return try await session.get("a", options: .init(gate: .startsImmediately)).response()
        }
        #expect(refused?.code == .pathNotAllowed)
    }

    @Test func `an attempt that fails offline is sent again when the path returns`() async throws {
        let network = ScriptedMonitor(.wifi)
        transport.expect(
            .get,
            "/v1/a",
            .custom { _ in
                network.status = .notReachable
                throw HTTPError(.networkUnreachable, processing: .neverSent, reason: "the network is away", errno: 101)
            },
            .text("yes")
        )
        let request = try session(network).get("a", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        // The path may return only once the attempt has failed. The state does not tell: it is `waiting` before the attempt too.
        for await case .pathLost in events { break }
        network.status = .wifi
        #expect(try await request.string() == "yes")
        #expect(transport.requests.count == 2)
    }

    @Test func `a limit of the wait applies`() async throws {
        let network = ScriptedMonitor(.notReachable)
        let request = try session(network, gate: .waitsForConnectivity(.milliseconds(20))).get("a")
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .connectivityTimedOut && error?.processing == .neverSent)
        #expect(transport.requests.isEmpty)
    }

    @Test func `the paths are those of the state`() throws {
        let network = ScriptedMonitor(.notReachable)
        #expect(!network.path.status.isReachable && network.path.reasons == [.noRoute])
        network.status = .cellular
        #expect(network.path.interface?.name == "wwan0" && network.path.isExpensive)
        let address = try #require(network.addresses(of: "example.com")?.first)
        #expect(address.description == "192.0.2.1")
        #expect(network.path(to: address, requiring: .any).isReachable)
        #expect(network.path(to: address, requiring: .wifi).ruledOut.map(\.interface.name) == ["wwan0"])
        #expect(network.addresses(of: "localhost") == nil)
    }
}
