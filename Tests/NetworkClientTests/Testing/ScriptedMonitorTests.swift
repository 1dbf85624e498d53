import HTTPLab
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
        retry: RetryPolicy = .never,
        monitors: [any EventMonitor] = []
    ) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "https://api.example.com/v1",
            configuration: .init(
                timeouts: .lasting,
                eventMonitors: monitors,
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

    @Test func `what a request waits for is told again when it changes`() async throws {
        let network = ScriptedMonitor(.unknown)
        transport.expect(.get, "/v1/a", .text("yes"))
        let request = try session(network, requirement: .notCellular).get("a", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        var texts: [String] = []
        for await case .waitingForConnectivity(let text) in events {
            texts.append(text)
            if texts.count == 1 { network.status = .notReachable }
            if texts.count > 1, text.contains("path.noRoute") { network.status = .cellular }
            if text.contains("path.notAllowed") { break }
        }
        #expect(texts.first?.hasPrefix("the first state of the network") == true, "\(texts)")
        // The name may be looked up meanwhile, and the address named then.
        #expect(texts.count >= 3 && texts.dropFirst().allSatisfy { $0.hasPrefix("a path to ") }, "\(texts)")
        network.status = .wifi
        #expect(try await request.string() == "yes")
    }

    @Test func `a reason that changes during a pause is told after it, to a late listener too`() async throws {
        let network = ScriptedMonitor(.unknown)
        let request = try session(network, requirement: .notCellular).get("a")
        try await network.waitUntilWatched()
        let events = request.events
        request.pause()
        for await case .paused in events { break }
        network.status = .cellular
        request.resume()
        for await case .waitingForConnectivity(let text) in events where !text.hasPrefix("the first state") {
            #expect(text.contains("path.notAllowed"), "\(text)")
            break
        }
        request.cancel()
    }

    @Test func `each of several requests to a host is told of a change once`() async throws {
        let network = ScriptedMonitor(.notReachable)
        let recorder = WaitRecorder()
        let session = try session(network, requirement: .notCellular, monitors: [recorder])
        let requests = (0..<20).map { _ in session.get("a") }
        try await recorder.texts.wait(for: "20 requests that wait") { $0.count == 20 }
        network.status = .cellular
        let isTold = { @Sendable (texts: [String]) in texts.last?.contains("path.notAllowed") == true }
        try await recorder.texts.wait(for: "the change") { $0.values.allSatisfy(isTold) }
        // A name whose lookup ends meanwhile is followed by its address.
        for texts in recorder.texts.value.values { #expect(Set(texts).count == texts.count, "\(texts)") }
        for request in requests { request.cancel() }
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

/// Records what each request waits for.
private final class WaitRecorder: EventMonitor {
    let texts = Observed<[ObjectIdentifier: [String]]>([:])

    func request(_ request: RequestHandle, did event: RequestEvent) {
        guard case .waitingForConnectivity(let text) = event else { return }
        texts.update { $0[ObjectIdentifier(request), default: []].append(text) }
    }
}
