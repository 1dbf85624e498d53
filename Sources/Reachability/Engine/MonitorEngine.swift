import Glibc
import LinuxSystem
import Locking
package import ReachabilityCore

/// Watches one network namespace with one thread, and passes every change of the state to a sink.
///
/// The engine below ``ReachabilityMonitor``: no subscribers, no executors. It may be started and stopped any number of
/// times, from any thread; ``stop()`` may be called from the sink itself.
final class MonitorEngine: Sendable {
    private let state: EngineState
    private let lifecycle = Lock<Lifecycle>(.init())

    /// Creates an engine that watches nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: What to watch, and how.
    ///   - sink: Called on the event thread with each change, in order; must not block. The first after each
    ///     ``start()`` has the event `state`.
    init(_ configuration: MonitorConfiguration, sink: @escaping @Sendable (ReachabilityChange) -> Void) {
        state = .init(configuration, sink)
    }

    deinit { stop() }

    private struct Lifecycle {
        /// The current run.
        var run: EngineRun?
        /// The event threads of the runs that were stopped, which may not have ended.
        var earlier: [EventThread] = []
    }

    /// Starts the event thread, and returns once its sockets are open; does nothing if it runs already.
    ///
    /// - Throws: ``ReachabilityError`` if the namespace cannot be entered or netlink cannot be opened.
    func start() throws(ReachabilityError) {
        let run = try lifecycle.withLock { lifecycle throws(ReachabilityError) in
            if let run = lifecycle.run { return run }
            lifecycle.earlier.removeAll { $0.system.hasEnded }
            let run = try EngineRun(state, after: lifecycle.earlier)
            lifecycle.run = run
            return run
        }
        do throws(ReachabilityError) {
            try run.waitUntilOpened()
        } catch {
            end(run)
            throw error
        }
    }

    /// Stops the event thread and closes its descriptors; does nothing if none runs.
    ///
    /// The last change of a run is to `unknown`, for the reason `monitor.notStarted`. When this returns, the sink is
    /// not called any more. Called on the event thread itself, from the sink, it returns immediately, and the thread ends
    /// when the sink returns. A thread started after that calls the sink only once the thread before it has ended; until
    /// then, it answers no question of the sink's.
    func stop() {
        let (run, earlier) = lifecycle.withLock { ($0.run, $0.earlier) }
        if let run { end(run) }
        for thread in earlier { thread.waitForEnd() }
    }

    /// Ends a run, and waits until it has ended.
    private func end(_ run: EngineRun) {
        lifecycle.withLock { lifecycle in
            guard lifecycle.run === run else { return }
            lifecycle.run = nil
            lifecycle.earlier.append(run.thread)
        }
        run.stop()
    }

    /// How often things happened since the engine was created.
    var counters: MonitorCounters { state.counters }

    /// Runs a job on the event thread, between changes, in the order in which jobs were handed over.
    ///
    /// Jobs that were accepted are run even if the engine is stopped meanwhile: before its last change.
    ///
    /// - Parameter job: Must not block.
    /// - Returns: Whether the engine runs; if it does not, the job is dropped.
    func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
        currentRun?.perform { _ in job() } ?? false
    }

    private var currentRun: EngineRun? { lifecycle.withLock { $0.run } }

    /// How long a lookup waits for the model to be read.
    static let settlingTime = Duration.seconds(5)
    /// How long a caller is blocked for a reply of the kernel.
    private static let replyTime = Duration.seconds(1)
}

// MARK: - Questions

extension MonitorEngine {
    /// Called with the result of a question, on the event thread or another thread of the engine's; must not block.
    typealias Completion<Value: Sendable> = @Sendable (EngineResult<Value>) -> Void

    /// Requests the model and the evaluation, once the model is complete and agrees with the kernel.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait for an agreement; after that, the result is the view as it is.
    ///   - completion: Called with the view; or with ``ReachabilityError/Code/notRunning`` if the engine is not running,
    ///     or is stopped meanwhile.
    func view(within timeout: Duration, _ completion: @escaping Completion<MonitorView>) {
        let deadline = Self.deadline(after: timeout)
        submit(completion) { loop in
            loop.whenSettled(until: deadline) { completion(.init($0?.view(at: SystemClock.now))) }
        }
    }

    /// Asks the kernel for the path of a socket that may only use paths which meet a requirement.
    ///
    /// - Parameters:
    ///   - destination: The address, which is looked up and never sent to.
    ///   - requirement: The requirement.
    ///   - completion: Called with the path and the interface to bind to, or why there is none; or with
    ///     ``ReachabilityError/Code/notRunning``, or ``ReachabilityError/Code/netlinkFailed`` if the kernel does not
    ///     reply.
    func path(
        to destination: IPAddress,
        meeting requirement: PathRequirement,
        _ completion: @escaping Completion<DestinationPath>
    ) {
        submit(completion) { loop in
            let result = loop.knownPath(to: destination, meeting: requirement)
            guard result.isUnknown else { return completion(result) }
            // What is not read yet is read by the time the model has settled.
            loop.whenSettled(until: Self.deadline(after: Self.settlingTime)) { loop in
                completion(loop?.destinations.path(to: destination, meeting: requirement) ?? .failure(.notRunning))
            }
        }
    }

    /// Asks the radios of the current path's Wi-Fi carriers which network they are in, and how strong its signal is.
    ///
    /// nl80211 replies, on another thread than the event thread; it needs no privilege.
    ///
    /// - Parameter completion: Called with one for each Wi-Fi carrier that nl80211 knows, in their order; or with
    ///   ``ReachabilityError/Code/notRunning``.
    func wifiDetails(_ completion: @escaping Completion<[WiFiDetails]>) {
        submit(completion) { loop in loop.devices.askRadios { completion(.success($0)) } }
    }

    private func submit<Value: Sendable>(
        _ completion: @escaping Completion<Value>,
        _ question: @escaping @Sendable (EventLoop) -> Void
    ) {
        let isAccepted = currentRun?.perform { loop in
            if let loop { question(loop) } else { completion(.failure(.notRunning)) }
        }
        if isAccepted != true { completion(.failure(.notRunning)) }
    }

    /// The moment after a timeout, which counts as a day if it is longer.
    private static func deadline(after timeout: Duration) -> Instant {
        SystemClock.now.advanced(by: min(max(timeout, .zero), .seconds(86_400)))
    }
}

extension MonitorEngine {
    /// The model and the evaluation, once the model is complete and agrees with the kernel.
    ///
    /// Blocks the caller until then; called on the event thread, it returns immediately.
    ///
    /// - Parameter timeout: How long to wait for an agreement; after that, the view as it is.
    /// - Returns: The model and the evaluation of one moment.
    /// - Throws: ``ReachabilityError/Code/notRunning`` if the engine is not running, or is stopped meanwhile.
    func view(within timeout: Duration) throws(ReachabilityError) -> MonitorView {
        if let loop = currentRun?.currentLoop { return loop.view(at: SystemClock.now) }
        return try answer { view(within: timeout, $0) }
    }

    /// Asks the kernel for the path of a socket that may only use paths which meet a requirement.
    ///
    /// Blocks the caller for some microseconds; at the start, before it says that there is no path, until the model has
    /// been read, and for at most six seconds.
    ///
    /// - Parameters:
    ///   - destination: The address, which is looked up and never sent to.
    ///   - requirement: The requirement.
    /// - Returns: The path, with the interface to bind to; or why there is none.
    /// - Throws: ``ReachabilityError/Code/notRunning``, or ``ReachabilityError/Code/netlinkFailed`` if the kernel
    ///   does not reply.
    func path(
        to destination: IPAddress,
        requiring requirement: PathRequirement = .any
    ) throws(ReachabilityError) -> DestinationPath {
        if let loop = currentRun?.currentLoop {
            return try loop.destinations.path(to: destination, meeting: requirement).get()
        }
        return try answer(within: Self.settlingTime + Self.replyTime, or: .lookupTakesTooLong) {
            path(to: destination, meeting: requirement, $0)
        }
    }

    /// As ``path(to:requiring:)``, but for callers that must not wait until the model has been read.
    ///
    /// Blocks the caller for some microseconds, and for at most a second while a driver keeps the kernel busy.
    ///
    /// - Returns: The path, or why there is none; with the status `unknown` if what is not read yet may hold one: a watch
    ///   for any change is called once it is read.
    func knownPath(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(ReachabilityError) -> DestinationPath {
        if let loop = currentRun?.currentLoop {
            return try loop.knownPath(to: destination, meeting: requirement).get()
        }
        return try answer(within: Self.replyTime, or: .lookupTakesTooLong) { completion in
            submit(completion) { completion($0.knownPath(to: destination, meeting: requirement)) }
        }
    }

    /// Asks the radios of the current path's Wi-Fi carriers which network they are in, and how strong its signal is.
    ///
    /// Blocks the caller for some microseconds, unless a driver keeps the kernel busy; not to be called from the sink.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: One for each Wi-Fi carrier that nl80211 knows, in their order; none where the path has none.
    /// - Throws: ``ReachabilityError/Code/notRunning``, or ``ReachabilityError/Code/netlinkFailed`` with ETIMEDOUT.
    func wifiDetails(within timeout: Duration = .seconds(2)) throws(ReachabilityError) -> [WiFiDetails] {
        try answer(within: timeout, or: .radiosDontReply) { wifiDetails($0) }
    }

    /// Opens a meter in the namespace that the engine watches; it outlives the engine's run.
    ///
    /// - Throws: ``ReachabilityError/Code/notRunning``, or ``ReachabilityError/Code/netlinkFailed`` if there is no
    ///   socket to be had.
    func trafficMeter() throws(ReachabilityError) -> TrafficMeter {
        if let loop = currentRun?.currentLoop { return try loop.makeTrafficMeter().get() }
        return try answer { completion in submit(completion) { completion($0.makeTrafficMeter()) } }
    }

    /// Asks a question, and blocks the caller until it is answered.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait.
    ///   - lateness: The error after that.
    ///   - question: Asks it; the completion may be called on any thread.
    /// - Returns: The answer.
    /// - Throws: ``ReachabilityError/Code/notRunning`` also on a thread whose end the run waits for.
    private func answer<Value: Sendable>(
        within timeout: Duration = .seconds(86_400),
        or lateness: ReachabilityError = .notRunning,
        to question: (@escaping Completion<Value>) -> Void
    ) throws(ReachabilityError) -> Value {
        guard currentRun?.thread.waitsForCaller != true else { throw .notRunning }
        let promise = BlockingPromise<EngineResult<Value>>()
        question { promise.fulfill($0) }
        guard let result = promise.wait(until: Self.deadline(after: timeout)) else { throw lateness }
        return try result.get()
    }
}

// MARK: - Watches

extension MonitorEngine {
    /// Watches the path to a destination until the watch is cancelled.
    ///
    /// Also routes that are not default-like are then received, if they could cover the destination.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - body: Called on the event thread, first with the current path, then with each that differs; must not block.
    /// - Returns: The watch; it outlives ``stop()`` and works again after the next ``start()``.
    func watch(_ destination: IPAddress, _ body: @escaping @Sendable (DestinationPath) -> Void) -> Subscription {
        watch([destination], .path(body))
    }

    /// Watches for anything that may change the result of a lookup, until the watch is cancelled.
    ///
    /// - Parameters:
    ///   - destinations: Addresses whose own routes are received, too, besides the default-like ones.
    ///   - body: Called on the event thread, once the watch has begun, and then after each change, when the engine has
    ///     taken it in: ``path(to:requiring:)`` reflects the change. In a storm of changes no more often than every 5
    ///     ms; must not block.
    /// - Returns: The watch; it outlives ``stop()`` and works again after the next ``start()``.
    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> Subscription {
        watch(destinations, .change(body))
    }

    private func watch(_ destinations: [IPAddress], _ interest: WatchRegistry.Interest) -> Subscription {
        let id = state.watches.add(destinations, interest)
        currentRun?.wakeup.signal()
        return Subscription { [state, weak self] in
            state.watches.remove(id)
            self?.currentRun?.wakeup.signal()
        }
    }
}

/// The state that all runs of an engine share.
final class EngineState: Sendable {
    let configuration: MonitorConfiguration
    private let sink: @Sendable (ReachabilityChange) -> Void
    let watches = WatchRegistry()
    private let storedCounters = Lock<MonitorCounters>(.init())

    init(_ configuration: MonitorConfiguration, _ sink: @escaping @Sendable (ReachabilityChange) -> Void) {
        self.configuration = configuration
        self.sink = sink
    }

    /// Passes a change on, with how long it took.
    func publish(_ change: ReachabilityChange, latency: Duration?) {
        configuration.changeTap?(change, latency)
        sink(change)
    }

    /// How often things happened, as of the event thread's last cycle.
    var counters: MonitorCounters {
        get { storedCounters.withLock { $0 } }
        set { storedCounters.withLock { $0 = newValue } }
    }

    /// The user whose sockets are evaluated: the configuration's, or the process's effective one.
    var user: UInt32 { configuration.user ?? geteuid() }
}

/// The result of a question that an engine was asked.
///
/// Not a `Result`: to find out that its failure is an `Error` the runtime searches all of the program's types.
enum EngineResult<Value: Sendable>: Sendable {
    case success(Value)
    case failure(ReachabilityError)

    /// Creates a result; without a value, the engine is not running.
    init(_ value: Value?) { self = value.map { .success($0) } ?? .failure(.notRunning) }

    /// The value.
    ///
    /// - Throws: The failure.
    func get() throws(ReachabilityError) -> Value {
        switch self {
        case .success(let value): return value
        case .failure(let error): throw error
        }
    }
}

extension EngineResult<DestinationPath> {
    /// Whether what is not read yet may hold a path.
    fileprivate var isUnknown: Bool { if case .success(let path) = self { path.status == .unknown } else { false } }
}

/// The engine of a monitor; tests put a source of their own in its place.
protocol MonitorSource: Sendable {
    /// As ``MonitorEngine/counters``.
    var counters: MonitorCounters { get }

    /// As ``MonitorEngine/start()``.
    func start() throws(ReachabilityError)

    /// As ``MonitorEngine/stop()``.
    func stop()

    /// As ``MonitorEngine/perform(_:)``.
    func perform(_ job: @escaping @Sendable () -> Void) -> Bool

    /// As ``MonitorEngine/view(within:_:)``.
    func view(within timeout: Duration, _ completion: @escaping @Sendable (EngineResult<MonitorView>) -> Void)

    /// As ``MonitorEngine/path(to:meeting:_:)``.
    func path(
        to destination: IPAddress,
        meeting requirement: PathRequirement,
        _ completion: @escaping @Sendable (EngineResult<DestinationPath>) -> Void
    )

    /// As ``MonitorEngine/view(within:)``.
    func view(within timeout: Duration) throws(ReachabilityError) -> MonitorView

    /// As ``MonitorEngine/wifiDetails(within:)``.
    func wifiDetails(within timeout: Duration) throws(ReachabilityError) -> [WiFiDetails]

    /// As ``MonitorEngine/trafficMeter()``.
    func trafficMeter() throws(ReachabilityError) -> TrafficMeter

    /// As ``MonitorEngine/path(to:requiring:)``.
    func path(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(ReachabilityError) -> DestinationPath

    /// As ``MonitorEngine/knownPath(to:requiring:)``.
    func knownPath(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(ReachabilityError) -> DestinationPath

    /// As ``MonitorEngine/wifiDetails(_:)``.
    func wifiDetails(_ completion: @escaping @Sendable (EngineResult<[WiFiDetails]>) -> Void)

    /// As ``MonitorEngine/watch(_:_:)`` for the path to a destination.
    func watch(_ destination: IPAddress, _ body: @escaping @Sendable (DestinationPath) -> Void) -> Subscription

    /// As ``MonitorEngine/watch(_:_:)`` for any change.
    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> Subscription
}

extension MonitorEngine: MonitorSource {}

/// The model and the evaluation of one moment: for explanations, not for programs that only need the state.
package struct MonitorView: Sendable, Hashable {
    /// The model of the machine's network.
    package var snapshot: NetworkSnapshot
    /// The evaluation, with its derivation.
    package var evaluation: PathEvaluation
    /// The time of the evaluation.
    package var instant: Instant
    /// Whether the whole model was read and agrees with the kernel's own lookups.
    package var isSettled: Bool
}
