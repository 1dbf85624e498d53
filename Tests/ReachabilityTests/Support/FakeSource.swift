import Locking

@testable import Reachability

/// A simulated engine: an event thread on which tests publish changes.
final class FakeSource: MonitorSource {
    private struct State {
        var thread: TestThread?
        var startError: ReachabilityError?
        var starts = 0
        var sequence: UInt64 = 0
        var path: DestinationPath?
        var wifiDetails: [WiFiDetails]?
        var held: [@Sendable () -> Void]?
        var watches: [Int: @Sendable (DestinationPath) -> Void] = [:]
        var nextWatch = 0
    }

    private let state = Lock(State())
    private let sink: @Sendable (ReachabilityChange) -> Void

    init(startError: ReachabilityError? = nil, _ sink: @escaping @Sendable (ReachabilityChange) -> Void) {
        self.sink = sink
        state.withLock { $0.startError = startError }
    }

    /// The event thread, while it runs.
    var thread: TestThread? { state.withLock(\.thread) }

    /// The number of starts.
    var starts: Int { state.withLock(\.starts) }

    /// Makes the next start succeed or fail.
    func failStart(with error: ReachabilityError?) {
        state.withLock { $0.startError = error }
    }

    func start() throws(ReachabilityError) {
        try state.withLock { state throws(ReachabilityError) in
            if let error = state.startError { throw error }
            guard state.thread == nil else { return }
            state.starts += 1
            state.thread = TestThread()
        }
    }

    func stop() {
        guard let thread = state.withLock({ $0.thread.take() }) else { return }
        thread.perform { self.send(.unknown(for: .notStarted)) }
        thread.end()
    }

    func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard let thread else { return false }
        thread.perform(job)
        return true
    }

    /// Publishes states on the event thread; returns when they were published.
    func publish(_ statuses: ReachabilityStatus...) {
        thread?.run { for status in statuses { self.send(.test(status)) } }
    }

    /// Publishes a state with the next number; on the event thread only.
    func send(_ change: ReachabilityChange) {
        var change = change
        change.sequence = state.withLock { state in
            state.sequence += 1
            return state.sequence
        }
        sink(change)
    }

    var counters: MonitorCounters { .init() }

    func view(within timeout: Duration) throws(ReachabilityError) -> MonitorView { throw .notRunning }

    func wifiDetails(within timeout: Duration) throws(ReachabilityError) -> [WiFiDetails] { throw .notRunning }

    func trafficMeter() throws(ReachabilityError) -> TrafficMeter { throw .notRunning }

    func view(within timeout: Duration, _ completion: @escaping @Sendable (EngineResult<MonitorView>) -> Void) {
        completion(.failure(.notRunning))
    }

    func path(
        to destination: IPAddress,
        meeting requirement: PathRequirement,
        _ completion: @escaping @Sendable (EngineResult<DestinationPath>) -> Void
    ) {
        let result = EngineResult(state.withLock { $0.thread == nil ? nil : $0.path })
        let isHeld = state.withLock { state in
            state.held?.append { completion(result) }
            return state.held != nil
        }
        if !isHeld { completion(result) }
    }

    /// Holds back results about paths.
    func holdResults() { state.withLock { $0.held = [] } }

    /// The number of results that are held back.
    var heldCount: Int { state.withLock { $0.held?.count ?? 0 } }

    /// Delivers all results that were held back.
    func releaseResults() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for release in held { release() }
    }

    /// Makes radios reply; otherwise they are silent.
    func setWiFiDetails(_ details: [WiFiDetails]) {
        state.withLock { $0.wifiDetails = details }
    }

    func wifiDetails(_ completion: @escaping @Sendable (EngineResult<[WiFiDetails]>) -> Void) {
        let isRunning = perform {
            if let details = self.state.withLock(\.wifiDetails) { completion(.success(details)) }
        }
        if !isRunning { completion(.failure(.notRunning)) }
    }

    func watch(
        _ destination: IPAddress,
        _ body: @escaping @Sendable (DestinationPath) -> Void
    ) -> Subscription {
        let id = state.withLock { state in
            state.nextWatch += 1
            return state.nextWatch
        }
        let body: @Sendable (DestinationPath) -> Void = { path in
            var path = path
            path.destination = destination
            body(path)
        }
        state.withLock { $0.watches[id] = body }
        _ = perform { if let path = self.state.withLock(\.path) { body(path) } }
        return .init { self.state.withLock { $0.watches[id] = nil } }
    }

    func path(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(ReachabilityError) -> DestinationPath {
        guard let path = state.withLock({ $0.thread == nil ? nil : $0.path }) else { throw .notRunning }
        return path
    }

    func knownPath(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(ReachabilityError) -> DestinationPath {
        try path(to: destination, requiring: requirement)
    }

    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> Subscription {
        watch(destinations.first ?? IPAddress(ipv4: 0)) { _ in body() }
    }

    /// The number of watched destinations.
    var watchCount: Int { state.withLock(\.watches.count) }

    /// Changes the path to every destination; returns once all watches have been called.
    func setPath(_ path: DestinationPath) {
        state.withLock { $0.path = path }
        thread?.run {
            for body in self.state.withLock({ Array($0.watches.values) }) { body(path) }
        }
    }
}

extension ReachabilityChange {
    /// A change to a state.
    static func test(_ status: ReachabilityStatus, sequence: UInt64 = 1) -> Self {
        .init(
            event: .change,
            status: status,
            previous: .unknown,
            path: .init(status: status),
            reasons: [.routeAdded],
            sequence: sequence
        )
    }
}

/// A monitor with a simulated source, both started.
func makeFakeMonitor(
    started: Bool = true,
    names: Names = Names([:])
) throws -> (monitor: ReachabilityMonitor, source: FakeSource) {
    let made = Lock<FakeSource?>(nil)
    let monitor = ReachabilityMonitor(lookup: names.lookup) { sink in
        let source = FakeSource(sink)
        made.withLock { $0 = source }
        return source
    }
    if started { try monitor.start() }
    guard let source = made.withLock({ $0 }) else { throw ReachabilityError(.noResources, "test") }
    return (monitor, source)
}
