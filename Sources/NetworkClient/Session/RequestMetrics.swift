import NIOCore

/// How long the stages of a request took, and what was sent and received.
///
/// Durations are by the monotonic clock, which stops while the machine is suspended (clock_gettime(2)).
public struct RequestMetrics: Sendable {
    var start: NIODeadline
    var assigned: NIODeadline?
    var answered: NIODeadline?
    var end: NIODeadline?
    var connection: ConnectionRecord?
    /// How many connections the request was handed to.
    public internal(set) var attempts = 0
    /// Whether the connection had served another request before.
    public internal(set) var isReused = false
    /// Bytes of the body that were handed to the connection.
    public internal(set) var bodyBytesSent = 0
    /// Bytes of the body as they came, compressed or not.
    public internal(set) var bodyBytesReceived = 0

    init(start: NIODeadline) { self.start = start }

    /// From the start until the request was handed to a connection: the wait for a free one, or for a new one.
    public var queued: Duration? { assigned.map { $0.after(start) } }
    /// Looking up the name; nil on a reused connection, and for a numeric host.
    public var resolve: Duration? { isReused ? nil : connection?.metrics.resolve }
    /// Connecting; nil on a reused connection.
    public var connect: Duration? { isReused ? nil : connection?.metrics.connect }
    /// The TLS handshake; nil on a reused connection, and without TLS.
    public var tls: Duration? { isReused ? nil : connection?.metrics.tls }
    /// From handing the request to the connection until the head of the answer.
    public var firstByte: Duration? {
        guard let assigned, let answered else { return nil }
        return answered.after(assigned)
    }
    /// From the start to the end.
    public var total: Duration? { end.map { $0.after(start) } }
    /// The connection's other end, numeric, if there was one.
    public var remoteAddress: String? { connection?.metrics.remoteAddress }
    /// The connection's own end, numeric.
    public var localAddress: String? { connection?.metrics.localAddress }
    /// The version of TLS, such as `TLSv1.3`.
    public var tlsVersion: String? { connection?.metrics.tlsVersion }
}

/// What is known of a connection, shared by all its requests.
final class ConnectionRecord: Sendable {
    let metrics: ConnectMetrics

    init(_ metrics: ConnectMetrics) { self.metrics = metrics }
}

extension NIODeadline {
    func after(_ earlier: NIODeadline) -> Duration { .nanoseconds((self - earlier).nanoseconds) }
}

/// How far the bodies of a request and its answer have come.
public struct RequestProgress: Sendable, Hashable {
    /// Bytes of the request's body that were handed to the connection in the present attempt.
    public var sent = 0
    /// The length of the request's body; nil if it is not known.
    public var toSend: Int64?
    /// Bytes of the answer's body that have come in the present attempt, compressed or not.
    public var received = 0
    /// The length of the answer's body; nil if the server did not say it.
    public var toReceive: Int?

    /// Takes what an event tells; whether it told anything.
    mutating func take(_ event: RequestEvent) -> Bool {
        switch event {
        case .attempt:
            self = .init()
            return false
        case .sending(let bytes, let length): (sent, toSend) = (bytes, length)
        case .received(let bytes, let length): (received, toReceive) = (bytes, length)
        default: return false
        }
        return true
    }
}

extension RequestHandle {
    /// How far it has come, each time that changes, from now on until it ends.
    ///
    /// A slow reader misses some values, never the last. The sequence does not fail: how the request ended is in its
    /// response.
    public final var progress: some AsyncSequence<RequestProgress, Never> & Sendable {
        RequestProgressSequence(events: events)
    }
}

/// The progress of one request.
struct RequestProgressSequence: AsyncSequence, Sendable {
    typealias Element = RequestProgress
    typealias Failure = Never

    let events: AsyncStream<RequestEvent>

    func makeAsyncIterator() -> AsyncIterator { .init(events: events.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var events: AsyncStream<RequestEvent>.Iterator
        private var progress = RequestProgress()

        init(events: AsyncStream<RequestEvent>.Iterator) { self.events = events }

        mutating func next() async -> RequestProgress? { await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async -> RequestProgress? {
            while let event = await events.next(isolation: actor) {
                if progress.take(event) { return progress }
            }
            return nil
        }
    }
}
