import CoreMetrics
import HTTPLab
import MetricsTestKit
import NetworkClient
import NetworkClientObservability
import Reachability
import Testing

/// Metrics in memory.
@Suite(.timeLimit(.minutes(5)))
struct RequestMeterTests {
    private let memory = TestMetrics()

    private func session(
        _ server: AnsweringServer,
        change: (inout HTTPConfiguration) -> Void = { _ in }
    ) throws -> HTTPSession {
        try AdapterLab.session(server) { configuration in
            configuration.eventMonitors = [RequestMeter(factory: memory)]
            change(&configuration)
        }
    }

    private func total(_ label: String, _ dimensions: [(String, String)] = []) -> Int64 {
        memory.counterTotal(label: "http_client_\(label)", dimensions: dimensions)
    }

    private func timed(_ label: String, _ dimensions: [(String, String)] = []) -> Int {
        memory.timers(label: "http_client_\(label)", dimensions: dimensions).reduce(0) { $0 + $1.values.count }
    }

    @Test func `requests, attempts and retries are counted and timed`() async throws {
        let server = try AdapterLab.server()
        let session = try session(server)
        #expect(try await session.get("busy").string() == "yes")
        #expect(try await session.put("").string() == "end")
        await #expect(throws: HTTPError.self) { try await session.get("close").response() }
        await session.shutdown(within: .seconds(60))
        #expect(total("requests", [("method", "GET"), ("result", "2xx")]) == 1)
        #expect(total("requests", [("method", "PUT"), ("result", "2xx")]) == 1)
        #expect(total("requests", [("method", "GET"), ("result", "connectionLost")]) == 1)
        #expect(timed("request_duration", [("method", "GET"), ("result", "2xx")]) == 1)
        // A reset on a reused connection is resent immediately, and that one is retried.
        #expect(total("retries", [("reason", "connectionLost")]) >= 1)
        let attempts = total("attempts", [("connection", "new")]) + total("attempts", [("connection", "reused")])
        #expect(attempts == Int64(server.requests.value.count))
        #expect(total("attempts", [("connection", "new")]) == Int64(server.connections.count))
        #expect(timed("connect_duration") == server.connections.count)
        #expect(try memory.expectGauge("http_client_active_requests").lastValue == 0)
        #expect(total("connection_waits") == Int64(timed("connection_wait_duration")))
    }

    @Test func `a request that could not be made is counted`() async throws {
        let session = try session(AdapterLab.server())
        await #expect(throws: HTTPError.self) { try await session.get("ftp://a/").response() }
        await session.shutdown(within: .seconds(60))
        #expect(memory.counterTotal(label: "http_client_requests") == 1)
        #expect(memory.recorders.isEmpty)
    }

    @Test func `the current number of requests is recorded last`() throws {
        let session = try HTTPSession(configuration: .init())
        let first = session.get("http://a/", options: .init(startsAtOnce: false))
        let second = session.get("http://b/", options: .init(startsAtOnce: false))
        let gauge = HookedGauge()
        let meter = RequestMeter(factory: gauge)
        // As another thread does between the change of the number and its recording.
        gauge.beforeFirstValue { meter.requestWasMade(second) }
        meter.requestWasMade(first)
        #expect(gauge.values.value == [1, 2])
        session.invalidate(.cancellingRequests)
    }

    @Test func `each wait for a connection is timed without the delay of a retry`() async throws {
        let session = try session(AdapterLab.server())
        let error = await #expect(throws: HTTPError.self) { try await session.get("http://127.0.0.1:1/").response() }
        #expect(error?.code == .connectionRefused)
        await session.shutdown(within: .seconds(60))
        #expect(total("retries") == 1)
        #expect(total("connection_waits") == 2 && timed("connection_wait_duration") == 2)
    }

    @Test func `a wait for a path is counted and timed`() async throws {
        let network = SwitchedNetwork()
        let server = try AdapterLab.server()
        let monitor = RequestMeter(factory: memory)
        let session = try session(server) { configuration in
            configuration.eventMonitors = [monitor]
            configuration.gate = .waitsForConnectivity(nil)
            configuration.connectivity = network
        }
        let request = session.get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        for await event in events { if case .waitingForConnectivity = event { break } }
        // The same wait goes on for another reason.
        monitor.request(request, did: .waitingForConnectivity(because: "another reason"))
        network.switchOn()
        #expect(try await request.string() == "end")
        await session.shutdown(within: .seconds(60))
        #expect(server.requests.value.count == 1)
        #expect(total("gate_waits") == 1)
        #expect(timed("gate_wait_duration") == 1)
    }
}

/// A backend whose gauge calls a closure before it records its first value.
private final class HookedGauge: MetricsFactory, RecorderHandler {
    /// The values in the order in which they were recorded.
    let values = Observed<[Int64]>([])
    private let hook = Observed<(@Sendable () -> Void)?>(nil)

    func beforeFirstValue(_ closure: @escaping @Sendable () -> Void) { hook.update { $0 = closure } }

    func record(_ value: Int64) {
        let closure = hook.value
        hook.update { $0 = nil }
        closure?()
        values.update { $0.append(value) }
    }

    func record(_ value: Double) { record(Int64(value)) }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        NOOPMetricsHandler.instance
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler { self }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { NOOPMetricsHandler.instance }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
