import Locking
public import ReachabilityCore

/// Tells, live, whether and how this machine reaches the network.
///
/// ```swift
/// import Reachability
///
/// let monitor = try ReachabilityMonitor()
/// print(monitor.status.name)
/// let subscription = monitor.subscribe { change in
///     print(change.status.name, change.path.interface?.name ?? "no interface")
/// }
/// for await change in monitor.changes { … }
/// ```
///
/// A monitor listens to the kernel with one thread of its own, which sleeps while nothing happens. It runs from its
/// initializer on until it is stopped or released; subscriptions and sequences keep it alive.
///
/// What the states mean, ``ReachabilityStatus`` says. Reachable means that the kernel has a usable path to the public
/// internet, not that a server out there answers: no packet is ever sent.
///
/// **Isolation**: everything here may be used on any thread and from every subscriber's closure.
public final class ReachabilityMonitor: Sendable {
    let source: any MonitorSource
    let broadcaster: Broadcaster
    let threads = HelperThreads()
    private let lastStartError = Lock<MonitorError?>(nil)

    /// Makes a monitor and starts it.
    ///
    /// The first state is known some milliseconds later; until then ``status`` is `unknown`, and subscribers wait.
    ///
    /// - Parameter configuration: What to watch, and how.
    /// - Throws: ``MonitorError`` if the namespace can't be entered, or netlink can't be opened.
    public convenience init(configuration: MonitorConfiguration = .init()) throws(MonitorError) {
        self.init { MonitorEngine(configuration, sink: $0) }
        try start()
    }

    /// Makes a monitor that was not started.
    ///
    /// - Parameter makeSource: Makes what calls the closure it is given with each notice.
    init(source makeSource: (@escaping @Sendable (StateChange) -> Void) -> any MonitorSource) {
        let broadcaster = Broadcaster()
        self.broadcaster = broadcaster
        // The source must not hold the monitor, which could never be released then.
        source = makeSource { broadcaster.publish($0) }
    }

    deinit { source.stop() }

    /// Starts the monitor again after ``stop()``; does nothing if it runs.
    ///
    /// Subscribers from before hear its changes again, beginning with the current state.
    ///
    /// - Throws: ``MonitorError`` if the namespace can't be entered, or netlink can't be opened; the monitor stays as
    ///   it was.
    public func start() throws(MonitorError) {
        do {
            try source.start()
            lastStartError.withLock { $0 = nil }
        } catch {
            lastStartError.withLock { $0 = error }
            throw error
        }
    }

    /// Stops the monitor and gives its thread and its descriptors back; does nothing if it does not run.
    ///
    /// Subscribers are told that the state is `unknown`, for the reason `monitor.notStarted`, and stay subscribed. When
    /// this returns, no ``Delivery/immediate`` closure is being called any more, unless it was called by one.
    ///
    /// Must not be called under a lock that an ``Delivery/immediate`` closure takes: it waits for the one under way.
    public func stop() {
        source.stop()
    }

    /// Why the monitor could not be started the last time; nil if it could.
    ///
    /// For ``shared``, whose start nobody sees fail.
    public var startError: MonitorError? { lastStartError.withLock { $0 } }

    /// The current state: an atomic load, some nanoseconds on any thread.
    public var status: ReachabilityStatus { broadcaster.status }

    /// The whole current path, or why there is none.
    public var path: NetworkPath {
        broadcaster.latest?.path ?? .init(status: .unknown, reasons: [.reading])
    }

    /// The last notice that was published; nil until the first state is known.
    public var latest: StateChange? { broadcaster.latest }

    /// How often things happened since the monitor was made.
    public var counters: MonitorCounters { source.counters }
}
