import LinuxSystem
import Locking
import NIOCore
import NetworkClient
import Reachability
import ReachabilityCore
import ValidationCore

/// The shell of a ``ValidationState``: it performs the requested actions, and passes on events and time.
///
/// `@unchecked Sendable`: everything but `published` is confined to the event loop, on which the functions of the second part
/// are called.
final class ValidatorEngine: @unchecked Sendable {
    private let endpoints: [ValidationEndpoint]
    private let prober: EndpointProber
    private let loop: any EventLoop
    private let published: Lock<Published>
    private let watches = Lock(ValidationWatches())
    private var state: ValidationState
    private var timer: Scheduled<Void>?
    private var streams: [Int: AsyncStream<ValidationReport>.Continuation] = [:]
    private var streamCount = 0
    private var probes: [UInt64: [Task<Void, Never>]] = [:]
    private var checks: [PendingCheck] = []
    private var watch: (any ConnectivityWatch)?
    private var routerEvents: RouterEvents?
    private var isStopped = false

    /// What other threads read.
    private struct Published {
        var report: ValidationReport
        var status: PathValidationStatus
    }

    /// Creates an engine without a path; on any thread.
    init(_ configuration: ValidationConfiguration, _ prober: EndpointProber, _ loop: any EventLoop) {
        endpoints = configuration.endpoints
        self.prober = prober
        self.loop = loop
        state = .init(configuration, at: .current)
        published = .init(.init(report: state.report, status: state.status))
    }

    // MARK: Any thread

    /// The current report.
    var report: ValidationReport { published.withLock { $0.report } }

    /// The current status for sessions.
    var status: PathValidationStatus { published.withLock { $0.status } }

    /// Calls a closure after each change of the status; meanwhile requests wait for it.
    func watch(_ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        let number = watches.withLock { $0.add(body) }
        loop.execute { [self] in updateDemand() }
        return ValidationWatch { [weak self] in self?.endWatch(number) }
    }

    private func endWatch(_ number: Int) {
        watches.withLock { $0.remove(number) }
        loop.execute { [self] in updateDemand() }
    }

    /// Returns the current report, and then each that is published.
    func reports() -> AsyncStream<ValidationReport> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ValidationReport.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        loop.execute { [self] in add(continuation) }
        return stream
    }

    /// Handles an event soon, in the order of the calls.
    func receive(_ event: ValidationEvent) {
        loop.execute { [self] in handle(event) }
    }

    /// Follows the default path of a source.
    func follow(_ connectivity: any Connectivity) {
        loop.execute { [self] in
            watch = connectivity.watch([]) { [weak self] in self?.take(connectivity.path) }
            handle(.pathChanged(ValidationPath(connectivity.path)))
        }
    }

    private func take(_ path: NetworkPath) { receive(.pathChanged(ValidationPath(path))) }

    /// Receives the events of routers in the calling thread's network namespace, if netlink can be opened.
    func receiveRouterEvents() {
        let events = try? RouterEvents { [weak self] event in self?.take(event) }
        loop.execute { [self] in routerEvents = isStopped ? nil : events }
    }

    private func take(_ event: RouterEvents.Event) {
        switch event {
        case .neighbourFailed(let address, let interface): receive(.gatewayFailed(address, interface))
        case .options(let message):
            for case .captivePortal(let url) in message.options { receive(.portalAnnounced(url, message.index)) }
        }
    }

    /// Handles the end of a request of an observed session.
    ///
    /// - Parameters:
    ///   - isAuthenticated: Whether it was answered by the server itself; nil if it was not answered.
    ///   - address: This machine's address of its connection; nil if there was none.
    func requestEnded(isAuthenticated: Bool?, from address: IPAddress?) {
        loop.execute { [self] in
            let networks = state.report.path?.networks ?? []
            let isOnPath = address.map { address in networks.contains { $0.contains(address) } }
            guard let isAuthenticated else {
                if isOnPath != false { handle(.requestFailed(path: state.pathNumber)) }
                return
            }
            guard isOnPath == true else { return }
            handle(.requestSucceeded(path: state.pathNumber, isAuthenticated: isAuthenticated))
        }
    }

    /// Requests a round of probes, and waits for its end, or until the task is cancelled.
    func check() async -> ValidationReport {
        let check = PendingCheck()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                loop.execute { [self] in begin(check, continuation) }
            }
        } onCancel: {
            loop.execute { [self] in cancel(check) }
        }
    }

    /// Ends everything.
    func stop() { loop.execute { [self] in end() } }

    // MARK: On the loop

    private func add(_ continuation: AsyncStream<ValidationReport>.Continuation) {
        continuation.yield(state.report)
        guard !isStopped else { return continuation.finish() }
        streamCount += 1
        let number = streamCount
        streams[number] = continuation
        continuation.onTermination = { [weak self, loop] _ in
            loop.execute { [weak self] in _ = self?.streams.removeValue(forKey: number) }
        }
    }

    private func end() {
        isStopped = true
        watch?.cancel()
        timer?.cancel()
        for task in probes.values.joined() { task.cancel() }
        (watch, timer, routerEvents, probes) = (nil, nil, nil, [:])
        endChecks(state.report)
        for stream in streams.values { stream.finish() }
        streams = [:]
    }

    private func handle(_ event: ValidationEvent) {
        guard !isStopped else { return }
        perform(state.receive(event, at: .current))
    }

    /// Passes on whether requests wait.
    private func updateDemand() { handle(.demandChanged(watches.withLock { !$0.isEmpty })) }

    private func perform(_ actions: [ValidationAction]) {
        publishState()
        for action in actions {
            switch action {
            case .probe(let round, let position): probe(position, in: round)
            case .askPortal(let round, let url): askPortal(url, in: round)
            case .cancel(let round): for task in probes.removeValue(forKey: round) ?? [] { task.cancel() }
            case .publish(let report): publish(report)
            case .endChecks(let report): endChecks(report)
            }
        }
        schedule()
    }

    /// Publishes the report and the status, and notifies those who watch the status.
    private func publishState() {
        let new = Published(report: state.report, status: state.status)
        let isChange = published.withLock { published in
            defer { published = new }
            return published.status != new.status
        }
        guard isChange else { return }
        for body in watches.withLock({ $0.bodies }) { body() }
    }

    private func publish(_ report: ValidationReport) {
        for stream in streams.values { stream.yield(report) }
    }

    private func begin(_ check: PendingCheck, _ continuation: UnsafeContinuation<ValidationReport, Never>) {
        guard !isStopped, !check.isEnded else { return continuation.resume(returning: state.report) }
        check.continuation = continuation
        checks.append(check)
        handle(.checkRequested)
    }

    /// Ends a check without its round, which others may share.
    private func cancel(_ check: PendingCheck) {
        check.end(state.report)
        checks.removeAll { $0 === check }
    }

    private func endChecks(_ report: ValidationReport) {
        let waiting = checks
        checks = []
        for check in waiting { check.end(report) }
    }

    private func probe(_ position: Int, in round: UInt64) {
        guard let path = state.report.path else { return }
        let task = Task { [weak self, prober, endpoint = endpoints[position]] in
            let outcome = await prober.probe(endpoint, through: path)
            self?.receive(.answered(round: round, position: position, outcome))
        }
        probes[round, default: []].append(task)
    }

    private func askPortal(_ url: String, in round: UInt64) {
        guard let path = state.report.path else { return }
        let task = Task { [weak self, prober] in
            let reply = await prober.askPortal(url, through: path)
            self?.receive(.portalReplied(round: round, reply))
        }
        probes[round, default: []].append(task)
    }

    /// Sets the timer to the next time at which the state changes by itself.
    private func schedule() {
        timer?.cancel()
        timer = nil
        guard let time = state.wakeUp(after: .current) else { return }
        let delay = max(time.nanoseconds - ValidationInstant.current.nanoseconds, 0)
        timer = loop.scheduleTask(in: .nanoseconds(delay)) { [weak self] in
            guard let self else { return }
            advance()
        }
    }

    private func advance() {
        guard !isStopped else { return }
        perform(state.advance(to: .current))
    }
}

/// A task that awaits the end of a round of probes.
///
/// `@unchecked Sendable`: it is confined to the engine's event loop.
private final class PendingCheck: @unchecked Sendable {
    var continuation: UnsafeContinuation<ValidationReport, Never>?
    private(set) var isEnded = false

    /// Resumes the task, once.
    func end(_ report: ValidationReport) {
        isEnded = true
        continuation?.resume(returning: report)
        continuation = nil
    }
}

/// Those who watch the status, by number.
private struct ValidationWatches {
    private var watches: [Int: @Sendable () -> Void] = [:]
    private var last = 0

    var isEmpty: Bool { watches.isEmpty }

    var bodies: [@Sendable () -> Void] { Array(watches.values) }

    mutating func add(_ body: @escaping @Sendable () -> Void) -> Int {
        last += 1
        watches[last] = body
        return last
    }

    mutating func remove(_ number: Int) { watches[number] = nil }
}

/// A watch of the status.
private struct ValidationWatch: ConnectivityWatch {
    let end: @Sendable () -> Void

    func cancel() { end() }
}

extension ValidationState {
    /// The status for sessions.
    fileprivate var status: PathValidationStatus {
        switch report.verdict {
        case .validated: .validated
        case .portal: .portal
        case .noInternet: .noInternet
        case .notChecked: isInconclusive ? .inconclusive : .notChecked
        }
    }
}

extension ValidationInstant {
    /// The current time.
    static var current: Self { .init(nanoseconds: SystemClock.nanosecondsSinceBoot) }
}
