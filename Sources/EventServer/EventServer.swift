package import EventCore
package import EventPage
package import NIOCore
import NIOPosix
package import NetwatchCore
package import ReachabilityCore
import Synchronization

/// An event that is published, in the forms in which subscribers receive it.
package struct PublishedEvent: Sendable {
    /// The change.
    package let change: ReachabilityChange
    /// When it was published.
    package let time: Timestamp
    /// Its object as `netwatch watch --json` prints it, with the line feed.
    package let line: [UInt8]
    /// The object of the state after it, with the event `state`.
    package let state: [UInt8]
    /// The same with the sources of the kinds of interfaces, as `netwatch status --json` prints it.
    package let detailedState: [UInt8]
    /// The newest report about the path; nil if there is none.
    package let validation: ValidationSummary?
    /// Whether the event is a change of the verdict on the path: the change has the state, which is the same as before.
    package let isVerdict: Bool

    /// Creates an event.
    package init(
        change: ReachabilityChange,
        time: Timestamp,
        line: [UInt8],
        state: [UInt8],
        detailedState: [UInt8],
        validation: ValidationSummary? = nil,
        isVerdict: Bool = false
    ) {
        self.change = change
        self.time = time
        self.line = line
        self.state = state
        self.detailedState = detailedState
        self.validation = validation
        self.isVerdict = isVerdict
    }
}

/// The inputs of a server: paths to hosts, and the time.
package struct EventSources: Sendable {
    /// A subscription to the path to a host; it ends when it is released.
    package typealias PathSubscription = AnyObject & Sendable

    /// Subscribes to the path to a host.
    ///
    /// The closure is called from any thread with an object's line for the current path and for each other one. Throws a
    /// ``RequestRefusal`` for what is no host.
    package var path:
        @Sendable (String, @escaping @Sendable ([UInt8]) -> Void) throws(RequestRefusal) -> any PathSubscription
    /// Returns the current time.
    package var now: @Sendable () -> EventMetrics.Moment
    /// Completes the object of a state with the details of Wi-Fi radios, which change without an event.
    ///
    /// The closure is called, from any thread, with the object's line; with nil if no radio replies.
    package var details: @Sendable (PublishedEvent, @escaping @Sendable ([UInt8]?) -> Void) -> Void
    /// Describes the machine for the page; the closure is called from any thread.
    package var network: @Sendable (@escaping @Sendable (PageNetwork) -> Void) -> Void = { body in
        body(.init(machine: "localhost", version: ""))
    }

    /// Creates the sources.
    package init(
        path:
            @escaping @Sendable (String, @escaping @Sendable ([UInt8]) -> Void) throws(RequestRefusal) ->
            any PathSubscription,
        now: @escaping @Sendable () -> EventMetrics.Moment,
        details: @escaping @Sendable (PublishedEvent, @escaping @Sendable ([UInt8]?) -> Void) -> Void
    ) {
        self.path = path
        self.now = now
        self.details = details
    }
}

/// The limits of a server, which tests shorten.
package struct EventServerLimits: Sendable {
    /// The number of events that the log keeps.
    package var logCapacity = 1024
    /// The number of events that are read from the journal at a time, for each subscriber.
    package var pageLength = 32
    /// The number of subscribers of one user.
    package var subscribers = 256
    /// The number of subscribers of one user that wait for their turn.
    package var waiting = 256
    /// The maximum time for a request's head from the connection's first byte on.
    package var headTimeout = TimeAmount.seconds(10)
    /// The time after the last response in which a client has to close.
    package var drainTimeout = TimeAmount.seconds(10)
    /// The maximum time between two requests of a connection.
    package var idleTimeout = TimeAmount.seconds(60)
    /// The interval of comments to streams to which nothing else was sent.
    package var commentInterval = TimeAmount.seconds(30)
    /// The maximum time for the path to a host.
    package var pathTimeout = TimeAmount.seconds(20)

    /// Creates the usual limits.
    package init() {}
}

/// Serves events over HTTP/1.1, on one event loop.
///
/// Publishing never waits: it hands the event to the loop. Each connection reads from the shared log as fast as its client
/// does, so one that reads nothing delays no other and costs no memory.
package final class EventServer: Sendable {
    /// The kinds of listeners.
    package enum Access: Sendable {
        /// A Unix socket, whose permissions decide who may connect.
        case unix
        /// Loopback TCP, to which browsers connect too.
        case loopback(AccessRules)
    }

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let hub: EventHub
    private let loop: any EventLoop
    private let isStopped = Atomic(false)

    /// Creates a server without listeners.
    ///
    /// - Parameters:
    ///   - run: 64 random bits, which identify this run of the service.
    ///   - sources: The server's inputs.
    ///   - store: The journal; nil for none.
    ///   - limits: The limits.
    ///   - validates: Whether paths are validated, which the metrics show.
    package init(
        run: UInt64,
        sources: EventSources,
        store: (any EventStore)? = nil,
        limits: EventServerLimits = .init(),
        validates: Bool = false
    ) {
        loop = group.next()
        hub = EventHub(
            run: run,
            loop: loop,
            sources: sources,
            store: store,
            limits: limits,
            metrics: EventMetrics(validates: validates)
        )
        loop.execute { [hub] in hub.restore() }
    }

    /// Publishes an event; from any thread, one at a time.
    package func publish(_ event: PublishedEvent) {
        loop.execute { [hub] in hub.publish(event) }
    }

    /// Replaces the newest event by one with the same number and a newer report about the path.
    ///
    /// The state and the metrics have it then. Nothing is sent: the verdict is the same.
    package func replaceNewest(_ event: PublishedEvent) {
        loop.execute { [hub] in hub.replaceNewest(event) }
    }

    /// Waits until the journal has recorded this run, or cannot; not to be called on the event loop.
    ///
    /// A client must not receive events of a run that is unknown after the service was killed: those of the runs before
    /// and after it would seem to follow each other.
    ///
    /// - Parameter timeout: How long to wait for a disk that hangs.
    /// - Throws: An error if the event loop has ended.
    package func waitForJournal(within timeout: Duration) throws {
        let promise = loop.makePromise(of: Void.self)
        loop.execute { [hub] in hub.whenRestored { promise.succeed() } }
        loop.scheduleTask(in: .init(timeout)) { promise.succeed() }
        try promise.futureResult.wait()
    }

    /// Starts to accept connections.
    ///
    /// - Parameters:
    ///   - descriptor: A listening socket, which belongs to the server from now on.
    ///   - access: The kind of listener.
    /// - Throws: An `IOError` if the socket cannot be used. Blocks until it is; not to be called on the event loop.
    package func listen(on descriptor: CInt, _ access: Access) throws {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                // A process out of descriptors accepts later.
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 8192, high: 32_768))
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 1024, maximum: 16_384)
            )
            .childChannelInitializer { [hub] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EventConnection(hub, access))
                }
            }
        let channel = try bootstrap.withBoundSocket(descriptor).wait()
        loop.execute { [hub] in hub.add(listener: channel) }
    }

    /// Runs a job on the event loop, between events; it must not block.
    package func perform(_ job: @escaping @Sendable () -> Void) { loop.execute(job) }

    /// Returns the metrics; not to be called on the event loop.
    ///
    /// - Returns: The metrics; nil while the counters of earlier runs are being read, for which a large journal, or a disk
    ///   that hangs, may take long.
    /// - Throws: An error if the event loop has ended.
    package func metrics() throws -> String? {
        try loop.submit { [hub] () -> String? in hub.isRestored ? hub.metricsText() : nil }.wait()
    }

    /// Closes the listeners and all connections, and ends the event loop's thread; does nothing the second time.
    package func stop() throws {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        try loop.flatSubmit { [hub] in hub.stop() }.wait()
        try group.syncShutdownGracefully()
    }
}
