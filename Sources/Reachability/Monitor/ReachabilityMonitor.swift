import LinuxSystem
import Locking
// Programs that import Reachability use statuses, paths and reasons without a second import.
@_exported public import ReachabilityCore

/// Monitors whether and how a Linux machine can reach the network: over Wi-Fi, Ethernet or a cellular modem, or not at
/// all.
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
/// A monitor listens to the kernel on a thread of its own, which sleeps while nothing happens. It runs from its
/// initializer on until it is stopped or released; subscriptions and sequences keep it alive.
///
/// ``ReachabilityStatus`` defines the four states. Reachable means that the kernel has a usable path to the public
/// internet, not that a server out there replies: no packet is ever sent.
///
/// **Isolation**: everything here may be used on any thread and from every subscriber's closure.
public final class ReachabilityMonitor: Sendable {
    private let source: any MonitorSource
    private let broadcaster: Broadcaster
    private let threads: ThreadPool
    private let resolver: NameResolver
    private let watcher: PathWatcher
    private let lastStartError = Lock<ReachabilityError?>(nil)

    /// Creates a monitor and starts it.
    ///
    /// The first state is known some milliseconds later; until then ``status`` is `unknown`, and subscribers wait.
    ///
    /// - Parameter configuration: What to watch, and how.
    /// - Throws: ``ReachabilityError`` if the namespace cannot be entered, or netlink cannot be opened.
    public convenience init(configuration: MonitorConfiguration = .init()) throws(ReachabilityError) {
        self.init { MonitorEngine(configuration, sink: $0) }
        try start()
    }

    /// Creates a monitor that is not started.
    ///
    /// - Parameters:
    ///   - lookup: The resolver of host names.
    ///   - makeSource: Creates the source of the changes, which calls the closure it is given with each.
    init(
        lookup: @escaping NameResolver.Lookup = NameResolver.system,
        source makeSource: (@escaping @Sendable (ReachabilityChange) -> Void) -> any MonitorSource
    ) {
        let broadcaster = Broadcaster()
        threads = .init()
        // Threads of their own: lookups may hang until each is taken.
        resolver = .init(threads: .init(name: "netwatch-names"), lookup: lookup)
        self.broadcaster = broadcaster
        // The source must not hold the monitor, which could never be released then.
        source = makeSource { broadcaster.publish($0) }
        watcher = .init(source: source, resolver: resolver)
    }

    /// Creates a monitor that exists even if it cannot be started.
    static func started(
        source makeSource: (@escaping @Sendable (ReachabilityChange) -> Void) -> any MonitorSource
    ) -> ReachabilityMonitor {
        let monitor = ReachabilityMonitor(source: makeSource)
        do {
            try monitor.start()
        } catch {
            // The monitor is not shared yet, and its source does not run: this is the first change.
            monitor.broadcaster.publish(.unknown(for: .netlinkFailed))
        }
        return monitor
    }

    deinit { source.stop() }

    /// A monitor of the current network namespace for the whole program; created and started on first use, never
    /// released.
    ///
    /// Where netlink cannot be opened, as in a service whose unit has `RestrictAddressFamilies` without `AF_NETLINK`,
    /// its state is `unknown` for the reason `netlink.failed`, ``startError`` has the details, and ``start()`` tries
    /// again.
    public static let shared = started { MonitorEngine(.init(), sink: $0) }

    /// Starts the monitor again after ``stop()``; does nothing if it runs.
    ///
    /// Subscribers from before receive its changes again, beginning with the current state.
    ///
    /// - Throws: ``ReachabilityError`` if the namespace cannot be entered, or netlink cannot be opened; the monitor stays
    ///   as it was.
    public func start() throws(ReachabilityError) {
        do {
            try source.start()
            lastStartError.withLock { $0 = nil }
        } catch {
            lastStartError.withLock { $0 = error }
            throw error
        }
    }

    /// Stops the monitor and releases its thread and its descriptors; does nothing if it does not run.
    ///
    /// Subscribers receive a change to `unknown`, for the reason `monitor.notStarted`, and stay subscribed. When this
    /// returns, no ``Delivery/immediate`` closure is being called any more, unless it was called by one.
    ///
    /// Must not be called under a lock that an ``Delivery/immediate`` closure takes: it waits for the one under way.
    public func stop() { source.stop() }

    /// Why the monitor could not be started the last time; nil if it could.
    ///
    /// For ``shared``, which is started without a caller that could see an error.
    public var startError: ReachabilityError? { lastStartError.withLock { $0 } }

    /// The current state: an atomic load, some nanoseconds on any thread.
    public var status: ReachabilityStatus { broadcaster.status }

    /// The whole current path, or why there is none.
    public var path: NetworkPath {
        broadcaster.latest?.path ?? .init(status: .unknown, reasons: [.reading])
    }

    /// The last change that was published; nil until the first state is known.
    public var latestChange: ReachabilityChange? { broadcaster.latest }

    /// How often things happened since the monitor was created.
    public var counters: MonitorCounters { source.counters }
}

// MARK: - Changes

extension ReachabilityMonitor {
    /// Calls a closure with the current state, and then with every change.
    ///
    /// ```swift
    /// let subscription = monitor.subscribe { change in
    ///     if change.status.isReachable { uploader.resume() } else { uploader.pause() }
    /// }
    /// ```
    ///
    /// The first call has the current state; it comes as soon as the monitor knows it, immediately if it already does.
    /// Every change follows in order. Calls never overlap, and none comes on the thread that cancelled after
    /// ``Subscription/cancel()`` has returned. A slow closure delays no other subscriber; it may miss intermediate
    /// states, never the last.
    ///
    /// - Parameters:
    ///   - delivery: Where the closure is called; by default on a thread of the monitor's own.
    ///   - limit: The number of changes that wait while the closure is busy; older ones are dropped. At least 1.
    ///   - handler: The closure. It keeps what it captures until the subscription ends.
    /// - Returns: The subscription, which ends when it is released: keep it.
    public func subscribe(
        on delivery: Delivery = .serial,
        bufferingNewest limit: Int = 16,
        _ handler: @escaping @Sendable (_ change: ReachabilityChange) -> Void
    ) -> Subscription {
        let (subscriber, end) = delivery.makeSubscriber(limit: limit, threads: threads, handler)
        return add(subscriber, end: end)
    }

    /// The current state and then every change, for `for await`; a slow task receives the newest.
    public var changes: ChangeSequence<ReachabilityChange> { changes(bufferingNewest: 1) }

    /// The current state and then every change, for `for await`.
    ///
    /// - Parameter limit: The number of changes that wait for a slow task; older ones are dropped. At least 1.
    /// - Returns: The sequence; each of its iterators is a subscription.
    public func changes(bufferingNewest limit: Int) -> ChangeSequence<ReachabilityChange> {
        .init(limit: limit) { push in
            let subscriber = Subscriber(.anyThread, limit: limit, handler: push)
            return self.add(subscriber) { subscriber.end() }
        }
    }

    /// Waits until the state meets a condition; returns immediately if it already does.
    ///
    /// ```swift
    /// try await monitor.wait(for: .reachable, timeout: .seconds(30))
    /// ```
    ///
    /// Nothing is polled: the task sleeps until a change or the deadline wakes it.
    ///
    /// - Parameters:
    ///   - condition: The condition.
    ///   - timeout: How long to wait, on `ContinuousClock`; nil for no limit. With a timeout that is not positive,
    ///     the condition is only checked.
    /// - Returns: The change that met the condition.
    /// - Throws: ``ReachabilityError``: ``ReachabilityError/Code/timedOut``, with the path at the end, or
    ///   ``ReachabilityError/Code/cancelled`` if the task is cancelled.
    @discardableResult
    public func wait(
        for condition: WaitCondition,
        timeout: Duration? = nil
    ) async throws(ReachabilityError) -> ReachabilityChange {
        if Task.isCancelled { throw .cancelled }
        if let latestChange, condition.isMet(by: latestChange.path) { return latestChange }
        let change = try await withTimeout(timeout) {
            // Every change that fits in the buffer is checked.
            await self.changes(bufferingNewest: 64).first { condition.isMet(by: $0.path) }
        }
        guard let change else {
            throw ReachabilityError(.timedOut, "\(condition)", timeout: timeout, path: path)
        }
        return change
    }

    /// The number of subscribers.
    var subscriberCount: Int { broadcaster.subscriberCount }

    private func add(_ subscriber: Subscriber<ReachabilityChange>, end: @escaping @Sendable () -> Void) -> Subscription
    {
        broadcaster.add(subscriber) { source.perform($0) }
        return Subscription { [self] in
            end()
            broadcaster.remove(subscriber)
        }
    }
}

// MARK: - Destinations

extension ReachabilityMonitor {
    /// Asks the kernel for the path to an address, of a socket that may only use paths which meet a requirement.
    ///
    /// ```swift
    /// let path = try await monitor.path(to: address, meeting: .notCellular)
    /// if path.isReachable, !path.staysOnThisMachine { bind(socket, to: path.interface) }
    /// ```
    ///
    /// The result is the kernel's own (`RTM_GETROUTE`, rtnetlink(7)), with all rules and tables, completed by the
    /// monitor's model of the links. Nothing is sent to the address.
    ///
    /// A requirement holds for packets only as long as the socket is bound to the path's interface (`SO_BINDTOIFINDEX`,
    /// socket(7)): an unbound socket's packets take another path as soon as the kernel prefers one. If the path of an
    /// unbound socket meets the requirement, it is that path; else, of all interfaces that meet it, are up and carry,
    /// the one that leads to the destination and that the kernel would prefer: the more specific route, then the lower
    /// metric, then the lower index. That may be a path around a VPN, if the VPN's own does not meet the requirement.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - requirement: The requirement; by default, any path will do.
    /// - Returns: The path. ``DestinationPath/interface`` is what a socket must be bound to, unless
    ///   ``DestinationPath/staysOnThisMachine``: an address of this machine needs no interface. Where there is no path,
    ///   ``DestinationPath/ruledOut`` has the interfaces and why each is unusable.
    /// - Throws: ``ReachabilityError`` if the monitor does not run, or the kernel does not reply.
    public func path(
        to destination: IPAddress,
        meeting requirement: PathRequirement = .any
    ) async throws(ReachabilityError) -> DestinationPath {
        try await ask { [source] in source.path(to: destination, meeting: requirement, $0) }
    }

    /// Asks the kernel for the paths to all addresses of a host.
    ///
    /// ```swift
    /// let server = try await monitor.path(to: "www.example.com", timeout: .seconds(2))
    /// print(server.isReachable, server.best?.interface?.name ?? "no interface")
    /// ```
    ///
    /// Names are resolved on a thread of the monitor's own, and as the program itself would: in its own network
    /// namespace, even if the monitor watches another.
    ///
    /// - Parameters:
    ///   - host: An address, or a name.
    ///   - timeout: How long a name's lookup may take. The system's resolver cannot be interrupted: its thread ends
    ///     when it gives up by itself.
    /// - Returns: The paths, in the order of getaddrinfo(3); at least one.
    /// - Throws: ``ReachabilityError`` if the name cannot be resolved, the monitor does not run, the kernel does not
    ///   reply, or the task is cancelled.
    public func path(to host: String, timeout: Duration = .seconds(5)) async throws(ReachabilityError) -> HostPath {
        var paths: [DestinationPath] = []
        for address in try await resolver.addresses(of: host, within: timeout) {
            paths.append(try await path(to: address))
        }
        return .init(host: host, paths: paths)
    }

    /// The paths to all addresses of a host, and then every change of them, for `for await`.
    ///
    /// ```swift
    /// for await server in monitor.paths(to: "robot.example") { print(server.isReachable) }
    /// ```
    ///
    /// As ``subscribe(to:on:bufferingNewest:_:)-(String,_,_,_)``; a slow task receives the newest.
    ///
    /// - Parameter host: An address, or a name.
    /// - Returns: The sequence; each of its iterators is a subscription.
    public func paths(to host: String) -> ChangeSequence<HostPath> {
        .init(limit: 1) { push in
            let subscriber = Subscriber(.anyThread, limit: 1, handler: push)
            return self.watcher.watch(host, subscriber, of: self) { subscriber.end() }
        }
    }

    /// Calls a closure with the paths to all addresses of a host, and then whenever one of them changes.
    ///
    /// A name is resolved immediately, again after each change of the network, at intervals of 1 to 30 seconds while that
    /// fails, and every five minutes. Known addresses stay while the name cannot be resolved;
    /// ``HostPath/resolutionError`` says why it can't. Names are resolved as ``path(to:timeout:)`` does.
    ///
    /// - Parameters:
    ///   - host: An address, or a name.
    ///   - delivery: Where the closure is called; by default on a thread of the monitor's own.
    ///   - limit: The number of values that wait while the closure is busy; older ones are dropped. At least 1.
    ///   - handler: The closure. It keeps what it captures until the subscription ends.
    /// - Returns: The subscription, which ends when it is released: keep it.
    public func subscribe(
        to host: String,
        on delivery: Delivery = .serial,
        bufferingNewest limit: Int = 16,
        _ handler: @escaping @Sendable (_ path: HostPath) -> Void
    ) -> Subscription {
        let (subscriber, end) = delivery.makeSubscriber(limit: limit, threads: threads, handler)
        return watcher.watch(host, subscriber, of: self, end: end)
    }

    /// Waits until one of a host's addresses is reachable; returns immediately if one already is.
    ///
    /// ```swift
    /// try await monitor.wait(forHost: "robot.example", timeout: .seconds(30))
    /// ```
    ///
    /// A name is resolved again and again, as for ``subscribe(to:on:bufferingNewest:_:)-(String,_,_,_)``.
    ///
    /// - Parameters:
    ///   - host: An address, or a name.
    ///   - timeout: How long to wait, on `ContinuousClock`; nil for no limit.
    /// - Returns: The paths to the host's addresses.
    /// - Throws: ``ReachabilityError``: ``ReachabilityError/Code/timedOut``, or ``ReachabilityError/Code/cancelled`` if
    ///   the task is cancelled.
    @discardableResult
    public func wait(forHost host: String, timeout: Duration? = nil) async throws(ReachabilityError) -> HostPath {
        if Task.isCancelled { throw .cancelled }
        let reached = try await withTimeout(timeout) { await self.paths(to: host).first(where: \.isReachable) }
        guard let reached else {
            throw ReachabilityError(.timedOut, host, timeout: timeout)
        }
        return reached
    }

    /// Calls a closure with the path to an address, and then whenever it changes.
    ///
    /// Changes of every route that could lead to the address are received, of specific ones too, and of no others: a
    /// machine with a full routing table pays no more for it. What ``subscribe(on:bufferingNewest:_:)`` promises of
    /// order and delivery holds here too.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - delivery: Where the closure is called; by default on a thread of the monitor's own.
    ///   - limit: The number of paths that wait while the closure is busy; older ones are dropped. At least 1.
    ///   - handler: The closure. It keeps what it captures until the subscription ends.
    /// - Returns: The subscription, which ends when it is released: keep it.
    public func subscribe(
        to destination: IPAddress,
        on delivery: Delivery = .serial,
        bufferingNewest limit: Int = 16,
        _ handler: @escaping @Sendable (_ path: DestinationPath) -> Void
    ) -> Subscription {
        let (subscriber, end) = delivery.makeSubscriber(limit: limit, threads: threads, handler)
        return watcher.watch(destination, subscriber, of: self, end: end)
    }

    /// The path to an address and then every other one, for `for await`; a slow task receives the newest.
    public func paths(to destination: IPAddress) -> ChangeSequence<DestinationPath> {
        .init(limit: 1) { push in
            let subscriber = Subscriber(.anyThread, limit: 1, handler: push)
            return self.watcher.watch(destination, subscriber, of: self) { subscriber.end() }
        }
    }

    /// Calls a closure whenever the result of a lookup may have changed.
    ///
    /// That is: when the monitor received a change of a link, an address, a rule, a default route, a nexthop object, a
    /// device, or a route that could cover one of the destinations; when its state changed; when it read everything
    /// again, or ended. The first call comes as soon as the watch has begun, so that nothing is missed in between, and
    /// every change is followed by a call. ``lookup(_:meeting:)``, called from the closure, reflects the change.
    ///
    /// - Parameters:
    ///   - destinations: Addresses whose own routes matter, besides the default paths.
    ///   - body: Called on the event thread, in a storm of changes at most once in 5 ms; must not block. It keeps what
    ///     it captures until the subscription ends.
    /// - Returns: The subscription, which ends when it is released: keep it.
    package func subscribeToChanges(
        affecting destinations: [IPAddress],
        _ body: @escaping @Sendable () -> Void
    ) -> Subscription {
        let watch = source.watch(destinations, body)
        return Subscription { [self] in
            watch.cancel()
            withExtendedLifetime(self) {}
        }
    }

    /// As ``path(to:meeting:)``, but blocks the calling thread for some microseconds; may be called on the event
    /// thread.
    package func lookup(
        _ destination: IPAddress,
        meeting requirement: PathRequirement = .any
    ) throws(ReachabilityError) -> DestinationPath {
        try source.path(to: destination, requiring: requirement)
    }

    /// As ``lookup(_:meeting:)``, but does not wait for what is not read yet: while that may hold a path, the status is
    /// `unknown`.
    package func knownPath(
        to destination: IPAddress,
        meeting requirement: PathRequirement = .any
    ) throws(ReachabilityError) -> DestinationPath {
        try source.knownPath(to: destination, requiring: requirement)
    }
}

// MARK: - Queries

extension ReachabilityMonitor {
    /// Asks the radios of the current path's Wi-Fi carriers which network they are in, and how strong its signal is.
    ///
    /// ```swift
    /// for details in try await monitor.wifiDetails() {
    ///     print(details.ssid ?? "no name", details.bssid ?? "-", details.signal ?? 0, "dBm")
    /// }
    /// ```
    ///
    /// nl80211 replies (`NL80211_CMD_GET_INTERFACE`, `NL80211_CMD_GET_STATION`), without privilege. The details change
    /// without a message: ask when you want to know.
    ///
    /// - Parameter timeout: How long to wait; the kernel replies in microseconds, unless a driver keeps it busy.
    /// - Returns: One for each Wi-Fi carrier; none where the path has none.
    /// - Throws: ``ReachabilityError`` if the monitor does not run, nl80211 does not reply in time, or the task is
    ///   cancelled.
    public func wifiDetails(timeout: Duration = .seconds(2)) async throws(ReachabilityError) -> [WiFiDetails] {
        let result = try await withTimeout(timeout) { [source] () -> EngineResult<[WiFiDetails]>? in
            let stream = AsyncStream<EngineResult<[WiFiDetails]>>.makeStream()
            source.wifiDetails { stream.continuation.yield($0) }
            return await stream.stream.first { _ in true }
        }
        guard let result else { throw .radiosDontReply }
        return try result.get()
    }

    /// The model of the machine's network and its evaluation, once they agree with the kernel.
    ///
    /// - Parameter timeout: How long to wait for an agreement; after that, the view as it is.
    /// - Returns: The view; ``MonitorView/isSettled`` is whether they agreed.
    /// - Throws: ``ReachabilityError/Code/notRunning`` if the monitor does not run, or is stopped meanwhile.
    package func view(within timeout: Duration = .seconds(5)) async throws(ReachabilityError) -> MonitorView {
        try await ask { [source] in source.view(within: timeout, $0) }
    }

    /// As ``view(within:)``, but blocks the calling thread, unless it is the event thread.
    package func view(within timeout: Duration = .seconds(5)) throws(ReachabilityError) -> MonitorView {
        try source.view(within: timeout)
    }

    /// As ``wifiDetails(timeout:)``, but blocks the calling thread; not to be called on the event thread.
    package func wifiDetails(within timeout: Duration) throws(ReachabilityError) -> [WiFiDetails] {
        try source.wifiDetails(within: timeout)
    }

    /// Opens a meter of what the interfaces carry; it outlives the monitor's run.
    ///
    /// - Throws: ``ReachabilityError/Code/notRunning``, or ``ReachabilityError/Code/netlinkFailed``.
    package func trafficMeter() throws(ReachabilityError) -> TrafficMeter { try source.trafficMeter() }

    /// Runs a job on the event thread, between changes; it must not block.
    ///
    /// - Returns: Whether the monitor runs; if it does not, the job is dropped.
    package func perform(_ job: @escaping @Sendable () -> Void) -> Bool { source.perform(job) }

    /// Asks the source without blocking a thread.
    private func ask<Value: Sendable>(
        _ query: @escaping @Sendable (@escaping @Sendable (EngineResult<Value>) -> Void) -> Void
    ) async throws(ReachabilityError) -> Value {
        let result = await withUnsafeContinuation { continuation in
            query { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
