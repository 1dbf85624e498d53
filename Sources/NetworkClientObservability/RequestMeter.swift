public import CoreMetrics
import Locking
public import NetworkClient

/// Measures the requests of a session with swift-metrics.
///
/// ```swift
/// let session = try HTTPSession(configuration: .init(eventMonitors: [RequestMeter()]))
/// ```
/// docs/observability.md lists the metrics. One meter can serve several sessions, whose values are then added up.
public final class RequestMeter: EventMonitor {
    /// The state of an unfinished request.
    private struct Running {
        let method: String
        let start = ContinuousClock.now
        /// The starts of its current waits.
        var waits: [Wait: ContinuousClock.Instant] = [:]
    }

    /// A kind of wait; its value begins the names of its metrics.
    private enum Wait: String {
        case gate
        case connection
    }

    /// The unfinished requests, and whether a thread records their number.
    private struct State {
        var running: [ObjectIdentifier: Running] = [:]
        var isRecording = false

        /// Returns the number of requests that a thread is to record next.
        ///
        /// - Parameter recorded: The number that the thread has recorded; nil if it is not recording yet.
        /// - Returns: The number; nil if it is recorded already, or another thread records it.
        mutating func nextCount(after recorded: Int?) -> Int? {
            if recorded == nil, isRecording { return nil }
            isRecording = recorded != running.count
            return isRecording ? running.count : nil
        }
    }

    private let factory: any MetricsFactory
    private let prefix: String
    private let state = Lock(State())

    /// Creates a meter.
    ///
    /// - Parameters:
    ///   - factory: The backend; by default the one of `MetricsSystem`, which has to be bootstrapped before.
    ///   - prefix: The beginning of the metrics' names, which an underscore follows.
    public init(factory: any MetricsFactory = MetricsSystem.factory, prefix: String = "http_client") {
        self.factory = factory
        self.prefix = prefix
    }

    /// Counts a request.
    public func requestWasMade(_ request: RequestHandle) {
        let method = request.head.method.rawValue
        state.withLock { $0.running[ObjectIdentifier(request)] = .init(method: method) }
        recordActiveRequests()
    }

    /// Measures an event.
    public func request(_ request: RequestHandle, did event: RequestEvent) {
        switch event {
        case .waitingForConnectivity:
            begin(.gate, request)
        case .waiting:
            end(.gate, request)
            begin(.connection, request)
        case .attempt(_, let isReused, let connection): attempt(request, isReused: isReused, connection)
        case .retrying(_, let reason, _):
            // The attempt may have found no connection: the delay is not part of the wait.
            end(.connection, request)
            count("retries", [("reason", "\(reason)")])
        case .sentAgain: count("retries", [("reason", "connectionLost")])
        case .pathLost:
            end(.connection, request)
            count("path_losses")
        case .finished(let result): finished(request, result)
        default: break
        }
    }

    private func attempt(_ request: RequestHandle, isReused: Bool, _ connection: ConnectMetrics) {
        end(.gate, request)
        end(.connection, request)
        count("attempts", [("connection", isReused ? "reused" : "new")])
        guard !isReused else { return }
        for (label, duration) in [
            ("resolve_duration", connection.resolve), ("connect_duration", connection.connect),
            ("tls_duration", connection.tls),
        ] {
            if let duration { time(label, duration) }
        }
    }

    private func finished(_ request: RequestHandle, _ result: Result<DataResponse, HTTPError>) {
        end(.gate, request)
        end(.connection, request)
        let ended = state.withLock { $0.running.removeValue(forKey: ObjectIdentifier(request)) }
        let method = ended?.method ?? request.head.method.rawValue
        let dimensions = [("method", method), ("result", Self.text(result))]
        count("requests", dimensions)
        // A request that could not be made has only this event.
        guard let ended else { return }
        time("request_duration", .now - ended.start, dimensions)
        recordActiveRequests()
    }

    /// Returns the class of a status, such as `2xx`, or the code of an error.
    private static func text(_ result: Result<DataResponse, HTTPError>) -> String {
        switch result {
        case .success(let response): "\(response.status / 100)xx"
        case .failure(let error): "\(error.code)"
        }
    }

    // MARK: Waits

    /// Counts a wait that begins; one that goes on for another reason is the same wait.
    private func begin(_ wait: Wait, _ request: RequestHandle) {
        let isNew = state.withLock { state in
            let key = ObjectIdentifier(request)
            guard state.running[key]?.waits[wait] == nil else { return false }
            state.running[key]?.waits[wait] = .now
            return true
        }
        if isNew { count("\(wait.rawValue)_waits") }
    }

    /// Measures a wait that has ended, if there was one.
    private func end(_ wait: Wait, _ request: RequestHandle) {
        let start = state.withLock { $0.running[ObjectIdentifier(request)]?.waits.removeValue(forKey: wait) }
        if let start { time("\(wait.rawValue)_wait_duration", .now - start) }
    }

    // MARK: Metrics

    private func name(_ label: String) -> String { "\(prefix)_\(label)" }

    /// Records the number of unfinished requests.
    ///
    /// One thread records at a time, without the lock, and again if the number has changed meanwhile: the value that is
    /// recorded last is the current one.
    private func recordActiveRequests() {
        var recorded: Int?
        while let count = state.withLock({ $0.nextCount(after: recorded) }) {
            Gauge(label: name("active_requests"), factory: factory).record(count)
            recorded = count
        }
    }

    private func count(_ label: String, _ dimensions: [(String, String)] = []) {
        Counter(label: name(label), dimensions: dimensions, factory: factory).increment()
    }

    private func time(_ label: String, _ duration: Duration, _ dimensions: [(String, String)] = []) {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        Timer(label: name(label), dimensions: dimensions, factory: factory)
            .recordNanoseconds(nanoseconds.overflow ? .max : nanoseconds.partialValue + attoseconds / 1_000_000_000)
    }
}
