public import ReachabilityCore

/// Watches one network namespace with one thread, and hands every change of the state to a sink.
///
/// The engine below ``ReachabilityMonitor``: no subscribers, no executors. It may be started and stopped any number of
/// times, from any thread; ``stop()`` may be called from the sink itself.
public final class MonitorEngine: Sendable {
    private let configuration: MonitorConfiguration
    private let sink: @Sendable (StateChange) -> Void

    /// Makes an engine that watches nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: What to watch, and how.
    ///   - sink: Called on the event thread with each notice, in order; must not block. The first after each
    ///     ``start()`` has the event `state`.
    public init(_ configuration: MonitorConfiguration, sink: @escaping @Sendable (StateChange) -> Void) {
        self.configuration = configuration
        self.sink = sink
    }

    /// Starts the event thread, and returns once its sockets are open; does nothing if it runs already.
    ///
    /// - Throws: ``MonitorError`` if the namespace can't be entered or netlink can't be opened.
    public func start() throws(MonitorError) {}

    /// Stops the event thread and closes its descriptors; does nothing if none runs.
    ///
    /// The last notice of a run says `unknown`, for the reason `monitor.notStarted`. When this returns, the sink is not
    /// called any more. Called on the event thread itself, from the sink, it returns at once, and the thread ends when
    /// the sink returns. A thread started after that calls the sink only once the thread before it has ended.
    public func stop() {}

    /// Runs a job on the event thread, between notices, in the order in which jobs were handed over.
    ///
    /// Jobs that were accepted are run even if the engine is stopped meanwhile: before its last notice.
    ///
    /// - Parameter job: Must not block.
    /// - Returns: Whether the engine runs; if it does not, the job is dropped.
    public func perform(_ job: @escaping @Sendable () -> Void) -> Bool { false }

    /// How often things happened since the engine was made.
    public var counters: MonitorCounters { .init() }

    /// What the engine knows, once the model has been read whole and agrees with the kernel.
    ///
    /// Blocks the caller until then; called on the event thread, it answers at once.
    ///
    /// - Parameter timeout: How long to wait for an agreement; after that, the view as it is.
    /// - Returns: The model and the verdict of one moment.
    /// - Throws: ``MonitorError/Code/notRunning`` if the engine is not running, or is stopped meanwhile.
    public func view(within timeout: Duration = .seconds(5)) throws(MonitorError) -> MonitorView {
        throw MonitorError(.notRunning, errno: 0, "monitor")
    }

    /// Asks the kernel for the way to a destination, on the caller's thread, in a few microseconds.
    ///
    /// - Parameter destination: The address, which is looked up and never sent to.
    /// - Returns: The way, or the kernel's refusal.
    /// - Throws: ``MonitorError/Code/notRunning``, or ``MonitorError/Code/netlinkFailed`` if the kernel does not answer.
    public func path(to destination: IPAddress) throws(MonitorError) -> DestinationPath {
        throw MonitorError(.notRunning, errno: 0, "monitor")
    }

    /// Watches the way to a destination until the watch is cancelled.
    ///
    /// Also routes that are not default-like are then heard, if they could cover the destination.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - body: Called on the event thread, first with the way as it is, then with each that differs; must not block.
    /// - Returns: The watch; it outlives ``stop()`` and works again after the next ``start()``.
    public func watch(
        _ destination: IPAddress,
        _ body: @escaping @Sendable (DestinationPath) -> Void
    ) -> DestinationWatch {
        DestinationWatch {}
    }
}
