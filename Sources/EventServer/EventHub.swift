import EventCore
import EventPage
import NIOCore
import NetwatchCore
import ReachabilityCore

/// The state that all connections share: the log, the newest state, and the subscribers.
///
/// `@unchecked Sendable`: used only on its event loop.
final class EventHub: @unchecked Sendable {
    /// An event in the log, as a server-sent event; its line is a part of it.
    struct Record: Sendable {
        let serverSent: ByteBuffer
        let line: ByteBuffer

        init(_ line: [UInt8], id: EventID?) {
            let bytes = EventText.serverSent(line, id: id)
            serverSent = ByteBuffer(bytes: bytes)
            // Between `data: ` and the line feed that ends a server-sent event.
            let start = bytes.count - 1 - line.count
            self.line = serverSent.getSlice(at: start, length: line.count) ?? ByteBuffer()
        }

        /// The bytes for a form of response.
        func bytes(_ form: EventRequest.Form) -> ByteBuffer { form == .lines ? line : serverSent }
    }

    /// A client, as the limit of subscribers counts it.
    enum Peer: Hashable, Sendable {
        /// A user, by the number (SO_PEERCRED, unix(7)).
        case user(UInt32)
        /// All clients on loopback TCP, whose users the kernel does not tell.
        case loopback
    }

    let loop: any EventLoop
    let sources: EventSources
    let limits: EventServerLimits
    private(set) var log: EventLog<Record>
    /// The newest event; nil if there is none.
    private(set) var newest: PublishedEvent?
    private var metrics: EventMetrics
    private var pageHistory = PageHistory()
    private var limit: SubscriberLimit<Peer, ObjectIdentifier>
    private var listeners: [any Channel] = []
    private var connections: [ObjectIdentifier: EventConnection] = [:]
    /// The connections that continue at each event: streams and long polls.
    ///
    /// In the order in which they were made, as far as none has ended: the memory of one is near that of the next.
    private var followers: [EventConnection] = []
    private var comments: RepeatedTask?
    /// The journal; nil without one.
    let store: (any EventStore)?
    /// The closures that wait for the counters of earlier runs; nil once these are known, or cannot be read.
    private var waitingForTotals: [() -> Void]?

    init(
        run: UInt64,
        loop: any EventLoop,
        sources: EventSources,
        store: (any EventStore)?,
        limits: EventServerLimits,
        metrics: EventMetrics
    ) {
        self.metrics = metrics
        self.loop = loop
        self.sources = sources
        self.store = store
        self.limits = limits
        log = .init(run: run, capacity: limits.logCapacity)
        limit = .init(maximum: limits.subscribers, maximumWaiting: limits.waiting)
    }

    /// Appends an event to the log, and advances all followers; then gives it to the journal.
    func publish(_ event: PublishedEvent) {
        let now = sources.now()
        metrics.record(event.change, at: now)
        pageHistory.record(event.change, verdict: event.isVerdict ? event.validation?.verdict : nil, at: now)
        log.append(.init(event.line, id: log.id(log.newest + 1)))
        replaceNewest(event)
        for follower in followers { follower.advance() }
        store?.append(
            .init(
                sequence: log.newest,
                change: event.change,
                line: event.line,
                moment: now,
                totals: metrics.totals(at: now),
                kind: event.isVerdict ? "validation" : nil
            )
        )
    }

    /// Replaces the newest event, without sending anything.
    func replaceNewest(_ event: PublishedEvent) {
        newest = event
        metrics.validation = event.validation
        pageHistory.validation = event.validation
    }

    /// Returns the page, as of now.
    func page(_ span: PageSpan, _ network: PageNetwork) -> EventPage {
        .init(
            history: pageHistory,
            network: network,
            id: log.newestID,
            span: span,
            now: sources.now(),
            nonce: String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
        )
    }

    /// Returns the bytes of a state, preceded by those of a gap.
    func bytes(ofStateAt id: EventID, _ gap: EventGap?, _ form: EventRequest.Form) -> ByteBuffer {
        let record = Record(newest?.state ?? [], id: id)
        guard let gap else { return record.bytes(form) }
        return bytes(of: record, gap, form)
    }

    /// Returns the bytes of an event, preceded by those of a gap.
    func bytes(of record: Record, _ gap: EventGap, _ form: EventRequest.Form) -> ByteBuffer {
        let line = Array(record.line.readableBytesView)
        // Without an id: a client that reconnects between the two is to name the event before the gap again.
        var bytes = Record(EventText.line(of: gap, at: line), id: nil).bytes(form)
        bytes.writeImmutableBuffer(record.bytes(form))
        return bytes
    }
}

// MARK: - Metrics

extension EventHub {
    /// Reads the counters of earlier runs.
    func restore() {
        guard let store else { return }
        waitingForTotals = []
        store.restore { [self] totals in loop.execute { self.take(totals) } }
    }

    private func take(_ totals: EventTotals?) {
        if let totals { metrics.restore(totals) }
        let waiting = waitingForTotals ?? []
        waitingForTotals = nil
        for body in waiting { body() }
    }

    /// Whether the counters are complete, or those of earlier runs cannot be read.
    var isRestored: Bool { waitingForTotals == nil }

    /// Calls a closure when the counters are complete: one that went down and up again would count double.
    func whenRestored(_ body: @escaping () -> Void) {
        guard waitingForTotals != nil else { return body() }
        waitingForTotals?.append(body)
    }

    /// Returns the metrics as of now, and stores the counters, so that they are no smaller after a restart.
    func metricsText() -> String {
        let now = sources.now()
        store?.save(metrics.totals(at: now), at: now)
        return metrics.text(at: now, subscribers: limit.count, journal: store?.health)
    }
}

// MARK: - Connections

extension EventHub {
    func add(listener: any Channel) { listeners.append(listener) }

    func add(_ connection: EventConnection) { connections[ObjectIdentifier(connection)] = connection }

    /// Forgets a connection that has ended.
    func remove(_ connection: EventConnection, of peer: Peer) {
        connections[ObjectIdentifier(connection)] = nil
        unfollow(connection)
        release(connection, of: peer)
    }

    /// Counts a connection as a subscriber.
    func admit(_ connection: EventConnection, of peer: Peer) -> SubscriberLimit<Peer, ObjectIdentifier>.Admission {
        limit.add(ObjectIdentifier(connection), of: peer)
    }

    /// Counts a connection no longer, and has the next one that waits begin.
    func release(_ connection: EventConnection, of peer: Peer) {
        if let next = limit.remove(ObjectIdentifier(connection), of: peer) { connections[next]?.begin() }
    }

    func follow(_ connection: EventConnection) {
        guard connection.followerIndex == nil else { return }
        connection.followerIndex = followers.count
        followers.append(connection)
        guard comments == nil else { return }
        // Cancelled with the last follower.
        comments = loop.scheduleRepeatedTask(initialDelay: limits.commentInterval, delay: limits.commentInterval) { _ in
            self.comment()
        }
    }

    func unfollow(_ connection: EventConnection) {
        guard let index = connection.followerIndex else { return }
        connection.followerIndex = nil
        let last = followers.removeLast()
        if last !== connection { (followers[index], last.followerIndex) = (last, index) }
        guard followers.isEmpty else { return }
        // No thread is woken while nobody listens.
        comments?.cancel()
        comments = nil
    }

    private func comment() {
        for follower in followers { follower.comment() }
    }

    /// Closes everything.
    func stop() -> EventLoopFuture<Void> {
        comments?.cancel()
        for connection in connections.values { connection.end() }
        let closed = listeners.map { listener in listener.close().recover { _ in } }
        listeners = []
        return EventLoopFuture.andAllComplete(closed, on: loop)
    }
}
