import NIOCore
import NIOHTTP1

/// The durations of the stages of a request, its connections, and the amounts of data sent and received.
///
/// Durations are measured with the monotonic clock, which stops while the machine is suspended (clock_gettime(2)).
public struct RequestMetrics: Sendable {
    var start: NIODeadline
    var assigned: NIODeadline?
    var answered: NIODeadline?
    var end: NIODeadline?
    var connection: ConnectionRecord?
    /// The status and version of the last response.
    var response: (status: Int, version: HTTPVersion)?
    /// The exchanges before the current one; empty, without an allocation, for most requests.
    var earlier: [ExchangeMetrics] = []
    /// Whether the last exchange is not among the earlier ones yet.
    var hasCurrent = false
    /// The URL of the last exchange, once it is known that nothing follows.
    var lastURL: String?
    /// The number of attempts that were assigned to a connection.
    public internal(set) var attempts = 0
    /// Whether the connection was used for another request before.
    public internal(set) var isReused = false
    /// The number of bytes of the request's body that were passed to the connection in the last attempt.
    public internal(set) var bodyBytesSent = 0
    /// The number of bytes of the response's body that were received in the last attempt, before decompression.
    public internal(set) var bodyBytesReceived = 0

    init(start: NIODeadline) { self.start = start }

    /// The exchanges of the request, in order: one for each attempt that got a connection, each redirect, and each response
    /// to a challenge.
    public var exchanges: [ExchangeMetrics] { hasCurrent ? earlier + [current(at: lastURL)] : earlier }

    /// The time from the start until the last attempt was assigned to a connection.
    public var queued: Duration? { assigned.map { $0.after(start) } }
    /// The duration of the name lookup; nil on a reused connection, and for a numeric host.
    public var resolve: Duration? { isReused ? nil : connection?.metrics.resolve }
    /// The duration of connecting; nil on a reused connection.
    public var connect: Duration? { isReused ? nil : connection?.metrics.connect }
    /// The duration of the TLS handshake; nil on a reused connection, and without TLS.
    public var tls: Duration? { isReused ? nil : connection?.metrics.tls }
    /// The time from the assignment to the connection until the head of the response was received.
    public var firstByte: Duration? {
        guard let assigned, let answered else { return nil }
        return answered.after(assigned)
    }
    /// The protocol and version of the last response, such as `HTTP/1.1`; nil if there was none.
    public var version: String? { response.map(\.version.text) }
    /// The time from the start to the end.
    public var total: Duration? { end.map { $0.after(start) } }
    /// The numeric address and port of the server, or of the proxy; nil if there was no connection.
    public var remoteAddress: String? { connection?.metrics.remoteAddress }
    /// The numeric address and port of this machine; nil if there was no connection, and for a Unix socket.
    public var localAddress: String? { connection?.metrics.localAddress }
    /// The TLS version, such as `TLSv1.3`; nil without TLS.
    public var tlsVersion: String? { connection?.metrics.tlsVersion }
}

/// The metrics of a connection, shared by all its requests.
final class ConnectionRecord: Sendable {
    let metrics: ConnectMetrics

    init(_ metrics: ConnectMetrics) { self.metrics = metrics }
}

extension NIODeadline {
    func after(_ earlier: NIODeadline) -> Duration { .nanoseconds((self - earlier).nanoseconds) }
}
