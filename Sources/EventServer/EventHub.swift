import EventCore
import NIOCore
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
    private(set) var state: [UInt8] = []
    private(set) var detailedState: [UInt8] = []
    private var metrics = EventMetrics()
    private var limit: SubscriberLimit<Peer, ObjectIdentifier>
    private var listeners: [any Channel] = []
    private var connections: [ObjectIdentifier: EventConnection] = [:]
    /// The connections that continue at each event: streams and long polls.
    private var followers: [ObjectIdentifier: EventConnection] = [:]
    private var comments: RepeatedTask?

    init(run: UInt64, loop: any EventLoop, sources: EventSources, limits: EventServerLimits) {
        self.loop = loop
        self.sources = sources
        self.limits = limits
        log = .init(run: run, capacity: limits.logCapacity)
        limit = .init(maximum: limits.subscribers, maximumWaiting: limits.waiting)
    }

    /// The metrics, as of now.
    var metricsText: String { metrics.text(at: sources.now(), subscribers: limit.count) }

    /// Appends an event to the log, and advances all followers.
    func publish(_ event: PublishedEvent) {
        metrics.record(event.change, at: sources.now())
        log.append(.init(event.line, id: log.id(log.newest + 1)))
        state = event.state
        detailedState = event.detailedState
        for follower in followers.values { follower.advance() }
    }

    /// Returns the bytes of a state, preceded by those of a gap.
    func bytes(ofStateAt id: EventID, _ gap: EventGap?, _ form: EventRequest.Form) -> ByteBuffer {
        var bytes = ByteBuffer()
        if let gap {
            // Without an id: a client that reconnects between the two is to name the event before the gap again.
            bytes.writeImmutableBuffer(Record(EventText.line(of: gap, at: state), id: nil).bytes(form))
        }
        bytes.writeImmutableBuffer(Record(state, id: id).bytes(form))
        return bytes
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
        followers[ObjectIdentifier(connection)] = connection
        guard comments == nil else { return }
        comments = loop.scheduleRepeatedTask(initialDelay: limits.commentInterval, delay: limits.commentInterval) {
            [weak self] _ in
            self?.comment()
        }
    }

    func unfollow(_ connection: EventConnection) {
        guard followers.removeValue(forKey: ObjectIdentifier(connection)) != nil, followers.isEmpty else { return }
        // No thread is woken while nobody listens.
        comments?.cancel()
        comments = nil
    }

    private func comment() {
        for follower in followers.values { follower.comment() }
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
