import LinuxSystem
import Locking
import NIOCore
import NIOPosix
import NetworkClient
import PathProbing
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
    /// When the timer is due.
    private var wakeUp: ValidationInstant?
    private let reports: StreamSet<ValidationReport>
    private let changes: StreamSet<ValidationChange>
    /// The path, with what a verdict does not depend on; nil until there is a first.
    private var path: NetworkPath?
    private let leases: LeaseFiles?
    private var probes: [UInt64: [Task<Void, Never>]] = [:]
    private var checks: [PendingCheck] = []
    private var watch: (any ConnectivityWatch)?
    private var routerEvents: RouterEvents?
    private var isStopped = false

    /// The state that other threads read.
    private struct Published {
        var report: ValidationReport
        var status: PathValidationStatus
    }

    /// The times after which a lease without a portal is read again: a client may write it after it has set the path up.
    private static let leaseDelays: [TimeAmount] = [.seconds(1), .seconds(4), .seconds(15)]

    /// The delay of the timer from which on the process counts as stopped meanwhile: by a signal, a busy machine or a suspension.
    private static let longestDelay = Duration.milliseconds(100)

    /// Creates an engine without a path; on any thread.
    ///
    /// - Parameters:
    ///   - configuration: The endpoints, and when they are asked.
    ///   - prober: The prober of the endpoints.
    ///   - loop: The event loop.
    ///   - leases: The files of DHCP clients; nil to read none.
    init(
        _ configuration: ValidationConfiguration,
        _ prober: EndpointProber,
        _ loop: any EventLoop,
        _ leases: LeaseFiles?
    ) {
        endpoints = configuration.endpoints
        self.prober = prober
        self.loop = loop
        state = .init(configuration, at: .current)
        published = .init(.init(report: state.report, status: state.status))
        self.leases = leases
        reports = .init(loop)
        changes = .init(loop)
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
    func makeReports() -> AsyncStream<ValidationReport> { reports.makeStream { [self] in state.report } }

    /// Returns the current path and report, and then each change of either.
    func makeChanges() -> AsyncStream<ValidationChange> { changes.makeStream { [self] in current } }

    /// Handles an event soon, in the order of the calls.
    func receive(_ event: ValidationEvent) {
        loop.execute { [self] in handle(event) }
    }

    /// Follows the default path of a source.
    func follow(_ connectivity: any Connectivity) {
        loop.execute { [self] in
            watch = connectivity.watch([]) { [weak self] in self?.take(connectivity.path) }
            move(to: connectivity.path)
        }
    }

    private func take(_ path: NetworkPath) {
        loop.execute { [self] in move(to: path) }
    }

    /// Receives the events of routers in the calling thread's network namespace, if netlink can be opened.
    func receiveRouterEvents() {
        let events = try? RouterEvents { [weak self] event in self?.take(event) }
        loop.execute { [self] in routerEvents = isStopped ? nil : events }
    }

    private func take(_ event: RouterEvents.Event) {
        switch event {
        case .neighbourFailed(let address, let interface): receive(.gatewayFailed(address, interface))
        case .options(let message):
            for option in message.options {
                switch option {
                case .captivePortal(let url): receive(.portalAnnounced(url, message.index))
                case .nat64(let prefix, let lifetime):
                    receive(.translatorAnnounced(prefix, lifetime: lifetime, message.index))
                }
            }
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

    private var current: ValidationChange? { path.map { .init(path: $0, validation: state.report) } }

    private func move(to path: NetworkPath) {
        let number = state.pathNumber
        let isChange = self.path != path
        self.path = path
        handle(.pathChanged(ValidationPath(path)))
        guard state.pathNumber != number else {
            if isChange, let current, !isStopped { changes.yield(current) }
            return
        }
        readLeases(after: Self.leaseDelays[...])
    }

    /// Reads the leases of the current path, and again after pauses while they name no portal.
    private func readLeases(after delays: ArraySlice<TimeAmount>) {
        guard let leases, let path = state.report.path, !isStopped else { return }
        let number = state.pathNumber
        NIOThreadPool.singleton.submit { [weak self] _ in
            let url = leases.portalURL(of: path, at: SystemClock.nanosecondsSince1970 / 1_000_000_000)
            self?.leasesRead(url, of: number, delays)
        }
    }

    private func leasesRead(_ url: String?, of number: UInt64, _ delays: ArraySlice<TimeAmount>) {
        loop.execute { [self] in
            guard number == state.pathNumber, let interface = state.report.path?.interface else { return }
            if let url { return handle(.portalAnnounced(url, interface, by: .lease)) }
            guard let delay = delays.first else { return }
            loop.scheduleTask(in: delay) { [weak self] in
                guard let self, number == state.pathNumber else { return }
                readLeases(after: delays.dropFirst())
            }
        }
    }

    private func end() {
        isStopped = true
        watch?.cancel()
        timer?.cancel()
        for task in probes.values.joined() { task.cancel() }
        (watch, timer, routerEvents, probes) = (nil, nil, nil, [:])
        endChecks(state.report)
        reports.finish()
        changes.finish()
    }

    private func handle(_ event: ValidationEvent) {
        guard !isStopped else { return }
        let now = beginStep()
        perform(state.receive(event, at: now))
    }

    /// Passes on whether requests wait.
    private func updateDemand() { handle(.demandChanged(watches.withLock { !$0.isEmpty })) }

    private func perform(_ actions: [ValidationAction]) {
        publishState()
        for action in actions {
            switch action {
            case .probe(let round, let position): probe(position, in: round)
            case .askPortal(let round, let url): askPortal(url, in: round)
            case .findTranslator(let path): findTranslator(on: path)
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
        reports.yield(report)
        if let path { changes.yield(.init(path: path, validation: report)) }
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
        let task = Task { [weak self, prober, endpoint = endpoints[position], prefix = state.report.nat64?.prefix] in
            let outcome = await prober.probe(endpoint, through: path, translatedBy: prefix)
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

    private func findTranslator(on number: UInt64) {
        guard let path = state.report.path else { return }
        Task { [weak self, prober] in
            let prefixes = await prober.findTranslators(through: path)
            self?.receive(.translatorFound(path: number, prefixes))
        }
    }

    /// Sets the timer to the next time at which the state changes by itself.
    private func schedule() {
        timer?.cancel()
        timer = nil
        wakeUp = state.wakeUp(after: .current)
        guard let time = wakeUp else { return }
        let delay = max(time.nanoseconds - ValidationInstant.current.nanoseconds, 0)
        timer = loop.scheduleTask(in: .nanoseconds(delay)) { [weak self] in
            guard let self else { return }
            advance()
        }
    }

    private func advance() {
        guard !isStopped else { return }
        let now = beginStep()
        perform(state.advance(to: now))
    }

    /// Returns the current time, before the state is changed at it.
    ///
    /// If the timer should have been handled long ago, the answers that have arrived meanwhile are handled before it is
    /// concluded that there are none.
    private func beginStep() -> ValidationInstant {
        let now = ValidationInstant.current
        if let wakeUp, wakeUp.advanced(by: Self.longestDelay) <= now { state.extendRound(at: now) }
        return now
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
