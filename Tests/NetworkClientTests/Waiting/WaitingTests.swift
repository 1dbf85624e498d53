import HTTPLab
import Testing

@testable import NetworkClient

/// Requests that wait for a path.
@Suite(.timeLimit(.minutes(5)))
struct WaitingTests {
    private static func session(
        _ server: ScriptedServer,
        _ network: MadeUpNetwork,
        _ configuration: HTTPConfiguration = .init(gate: .waitsForConnectivity(nil))
    ) throws -> HTTPSession {
        var configuration = configuration
        configuration.connectivity = network
        configuration.timeouts = .lasting
        return try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
    }

    @Test func `a request waits while there is no path, and starts when there is one`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("here")])])
        let network = MadeUpNetwork(.notReachable)
        let session = try Self.session(server, network)
        let request = session.get("", options: .init(startsAtOnce: false))
        #expect(try await request.startAndWait().contains("127.0.0.1"))
        #expect(server.connections.isEmpty)
        network.become(.wifi)
        #expect(try await request.string() == "here")
    }

    @Test func `a request that waits too long fails with what it waited for`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("here")])
        let network = MadeUpNetwork(.notReachable)
        let session = try Self.session(
            server,
            network,
            .init(gate: .waitsForConnectivity(.milliseconds(200)), retry: .standard)
        )
        let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(error?.code == .connectivityTimedOut)
        #expect(error?.processing == .neverSent)
        #expect(error?.reason.contains("127.0.0.1") == true, "\(error.debugDescription)")
        #expect(error?.reason.contains("path.noRoute") == true, "\(error.debugDescription)")
        #expect(server.connections.isEmpty)
        #expect(session.requests.isEmpty)
    }

    @Test func `an unknown state delays no request without a requirement`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("here")])
        let session = try Self.session(server, MadeUpNetwork(.unknown))
        #expect(try await session.get("").string() == "here")
    }

    @Test func `an unknown state delays requests with a requirement`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("here")])
        let network = MadeUpNetwork(.unknown)
        let session = try Self.session(
            server,
            network,
            .init(gate: .waitsForConnectivity(nil), requirement: .notCellular)
        )
        let request = session.get("", options: .init(startsAtOnce: false))
        _ = try await request.startAndWait()
        network.become(.cellular)
        #expect(server.connections.isEmpty)
        network.become(.wifi)
        #expect(try await request.string() == "here")
    }

    @Test func `a request that does not wait fails immediately if its requirement is not met`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("here")])
        let session = try Self.session(server, MadeUpNetwork(.cellular), .init(requirement: .notCellular))
        let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(error?.code == .pathNotAllowed)
        #expect(server.connections.isEmpty)
    }

    @Test func `a request that does not wait fails once its requirement is known not to be met`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("here")])
        let network = MadeUpNetwork(.unknown)
        var configuration = HTTPConfiguration(requirement: .notCellular)
        configuration.fixedLimits.firstState = .seconds(600)
        let session = try Self.session(server, network, configuration)
        // Without the notification it would wait for the first state, and miss its deadline.
        var timeouts = Timeouts.lasting
        timeouts.total = .seconds(200)
        let request = session.get("", options: .init(timeouts: timeouts, startsAtOnce: false))
        _ = try await request.startAndWait()
        network.become(.cellular)
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .pathNotAllowed)
        #expect(server.connections.isEmpty)
    }

    @Test func `a request that does not wait is sent although the path has just returned and its host is probed`()
        async throws
    {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .forever([
                .respond { $0.head.hasPrefix("GET /a ") ? [.await(latch), .response("a")] : [.response("b")] }
            ])
        ])
        let network = MadeUpNetwork(.notReachable)
        let session = try Self.session(server, network, .init(gate: .waitsForConnectivity(nil), retry: .standard))
        let probe = session.get("a", options: .init(startsAtOnce: false))
        _ = try await probe.startAndWait()
        network.become(.wifi)
        try await server.wait(for: "the probe") { $0.first?.requests.count == 1 }
        #expect(try await session.get("b", options: .init(gate: .startsImmediately)).string() == "b")
        latch.open()
        #expect(try await probe.string() == "a")
    }

    @Test func `a waiting request is cancelled immediately`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("here")])
        let network = MadeUpNetwork(.notReachable)
        let session = try Self.session(server, network)
        let request = session.get("", options: .init(startsAtOnce: false))
        _ = try await request.startAndWait()
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        network.become(.wifi)
        #expect(try await session.get("other").string() == "here")
        #expect(server.connections.count == 1)
    }

    @Test func `the deadline holds while a request waits`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("here")])
        let session = try Self.session(server, MadeUpNetwork(.notReachable))
        var timeouts = Timeouts.lasting
        timeouts.total = .milliseconds(100)
        let request = session.get("", options: .init(timeouts: timeouts))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .requestTimedOut)
        #expect(error?.processing == .neverSent)
    }

    @Test func `neither the user's pause nor the gate undoes the other`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("here")])])
        let network = MadeUpNetwork(.notReachable)
        let session = try Self.session(server, network)
        let paused = session.get("paused", options: .init(startsAtOnce: false))
        let other = session.get("other")
        _ = try await paused.startAndWait()
        paused.pause()
        network.become(.wifi)
        #expect(try await other.string() == "here")
        #expect(!paused.isFinished)
        network.become(.notReachable)
        paused.resume()
        _ = try await session.get("third", options: .init(startsAtOnce: false)).startAndWait()
        #expect(!paused.isFinished)
        network.become(.wifi)
        #expect(try await paused.string() == "here")
    }

    @Test func `a pause withdraws a request that waits for a connection, and it starts again when resumed`()
        async throws
    {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readRequest, .await(latch), .response("first"), .forever([.readRequest, .response("here")]),
        ])
        let network = MadeUpNetwork(.notReachable)
        let session = try Self.session(
            server,
            network,
            .init(maximumConnectionsPerHost: 1, gate: .waitsForConnectivity(nil))
        )
        let first = session.get("first")
        let second = session.get("second", options: .init(startsAtOnce: false))
        _ = try await second.startAndWait()
        let other = session.get("other", options: .init(startsAtOnce: false))
        _ = try await other.startAndWait()
        network.become(.wifi)
        try await server.wait(for: "the first request") { $0.first?.requests.count == 1 }
        let events = second.events
        second.pause()
        // The loop processes received bytes before this task; otherwise the connection may be free first.
        for await event in events { if case .paused = event { break } }
        latch.open()
        #expect(try await first.string() == "first")
        #expect(try await other.string() == "here")
        #expect(!second.isFinished)
        second.resume()
        #expect(try await second.string() == "here")
    }

    @Test func `a request that was paused before its start starts when resumed`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("here")])])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting)
        )
        let request = session.get("", options: .init(startsAtOnce: false))
        request.pause()
        #expect(try await session.get("other").string() == "here")
        #expect(!request.isFinished)
        request.resume()
        #expect(try await request.string() == "here")
    }
}

extension RequestHandle {
    /// Starts the request; returns what it waits for.
    func startAndWait() async throws -> String {
        let events = events
        resume()
        for await event in events { if case .waitingForConnectivity(let what) = event { return what } }
        throw NeverWaited()
    }

    private struct NeverWaited: Error {}
}
