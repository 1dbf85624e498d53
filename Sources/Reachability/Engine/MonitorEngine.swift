import Locking
public import ReachabilityCore

/// Watches one network namespace with one thread, and hands every change of the state to a sink.
///
/// The engine below ``ReachabilityMonitor``: no subscribers, no executors. It may be started and stopped any number of
/// times, from any thread; ``stop()`` may be called from the sink itself.
public final class MonitorEngine: Sendable {
    let state: EngineState
    private let lifecycle = Lock<Lifecycle>(.init())

    /// Makes an engine that watches nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: What to watch, and how.
    ///   - sink: Called on the event thread with each notice, in order; must not block. The first after each
    ///     ``start()`` has the event `state`.
    public convenience init(_ configuration: MonitorConfiguration, sink: @escaping @Sendable (StateChange) -> Void) {
        self.init(configuration) { change, _ in sink(change) }
    }

    /// Makes an engine whose sink is also told how long each notice took.
    ///
    /// - Parameters:
    ///   - configuration: What to watch, and how.
    ///   - timedSink: As the sink of ``init(_:sink:)``. The duration is the time since the event thread read the first of
    ///     the messages that it judged together; nil for a notice that no message brought, such as one that was held back.
    public init(_ configuration: MonitorConfiguration, timedSink: @escaping TimedSink) {
        state = .init(configuration, timedSink)
    }

    /// What is called with each notice, and with how long it took.
    public typealias TimedSink = @Sendable (StateChange, Duration?) -> Void

    deinit { stop() }

    /// Which run goes on, and which was stopped last.
    private struct Lifecycle {
        var run: EngineRun?
        var last: RunEnd?
    }

    /// What a new run has to wait for.
    private struct Predecessor {
        var end: RunEnd?
    }

    /// Starts the event thread, and returns once its sockets are open; does nothing if it runs already.
    ///
    /// - Throws: ``MonitorError`` if the namespace can't be entered or netlink can't be opened.
    public func start() throws(MonitorError) {
        let (run, predecessor) = try begin()
        guard let predecessor else { return try run.waitUntilOpened() }
        do throws(MonitorError) {
            run.keep(try EventThread.start { [state] in run.main(state, after: predecessor.end) })
        } catch {
            run.opened.open(error)
            run.end.come()
        }
        do throws(MonitorError) {
            try run.waitUntilOpened()
        } catch {
            end(run)
            throw error
        }
    }

    /// The run that goes on, or a new one with the one before it.
    private func begin() throws(MonitorError) -> (run: EngineRun, predecessor: Predecessor?) {
        try lifecycle.withLock { lifecycle throws(MonitorError) in
            if let run = lifecycle.run { return (run, nil) }
            let run = try EngineRun()
            lifecycle.run = run
            return (run, .init(end: lifecycle.last))
        }
    }

    /// Ends a run, if it still goes on, and waits until it has ended.
    private func end(_ run: EngineRun) {
        lifecycle.withLock { lifecycle in
            guard lifecycle.run === run else { return }
            lifecycle.run = nil
            lifecycle.last = run.end
        }
        run.stop()
        run.release()
    }

    /// The run that goes on.
    ///
    /// - Throws: ``MonitorError/Code/notRunning`` if there is none.
    func currentRun() throws(MonitorError) -> EngineRun {
        guard let run = lifecycle.withLock({ $0.run }) else { throw MonitorError(.notRunning, errno: 0, "monitor") }
        return run
    }

    /// Stops the event thread and closes its descriptors; does nothing if none runs.
    ///
    /// The last notice of a run says `unknown`, for the reason `monitor.notStarted`. When this returns, the sink is not
    /// called any more. Called on the event thread itself, from the sink, it returns at once, and the thread ends when
    /// the sink returns. A thread started after that calls the sink only once the thread before it has ended.
    public func stop() {
        let (run, last) = lifecycle.withLock { ($0.run, $0.last) }
        if let run { end(run) } else { last?.wait() }
    }

    /// Runs a job on the event thread, between notices, in the order in which jobs were handed over.
    ///
    /// Jobs that were accepted are run even if the engine is stopped meanwhile: before its last notice.
    ///
    /// - Parameter job: Must not block.
    /// - Returns: Whether the engine runs; if it does not, the job is dropped.
    public func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
        (try? currentRun())?.perform { _ in job() } ?? false
    }

    /// How often things happened since the engine was made.
    public var counters: MonitorCounters { state.counters }
}
