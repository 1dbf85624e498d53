import NIOCore

/// The durations, the connection and the amounts of data of one exchange of a request: what was sent on one connection, and
/// the response to it.
public struct ExchangeMetrics: Sendable {
    /// The URL, without user information and query.
    public let url: String
    /// The status of the response; nil if there was none.
    public let status: Int?
    /// The protocol and version of the response, such as `HTTP/1.1`; nil if there was none.
    public let version: String?
    /// Whether the connection was used for another request before.
    public let isReused: Bool
    /// The time from the assignment to the connection until the head of the response was received; nil if it was not.
    public let firstByte: Duration?
    /// The time from the assignment to the connection until the exchange ended.
    public let duration: Duration
    /// The number of bytes of the request's body that were passed to the connection.
    public let bodyBytesSent: Int
    /// The number of bytes of the response's body that were received, before decompression.
    public let bodyBytesReceived: Int
    private let record: ConnectionRecord?

    /// The addresses and the TLS version of the connection, and the durations of opening it, which was earlier if it is
    /// reused; nil with a custom ``Transport``.
    public var connection: ConnectMetrics? { record?.metrics }

    fileprivate init(_ request: RequestMetrics, at url: String) {
        self.url = url
        status = request.response?.status
        version = request.version
        isReused = request.isReused
        firstByte = request.firstByte
        duration = (request.end ?? .now()).after(request.assigned ?? request.start)
        bodyBytesSent = request.bodyBytesSent
        bodyBytesReceived = request.bodyBytesReceived
        record = request.connection
    }
}

extension RequestMetrics {
    func current(at url: String?) -> ExchangeMetrics { .init(self, at: url ?? "") }

    /// Begins an exchange, after the previous one has ended.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - record: The metrics of the connection; nil for a custom transport.
    ///   - isReused: Whether the connection was used before.
    fileprivate mutating func beginExchange(_ now: NIODeadline, on record: ConnectionRecord?, isReused: Bool) {
        hasCurrent = true
        assigned = now
        connection = record
        self.isReused = isReused
        (answered, end, response) = (nil, nil, nil)
        (bodyBytesSent, bodyBytesReceived) = (0, 0)
    }

    /// Ends the current exchange.
    fileprivate mutating func endExchange(at url: HTTPURL) {
        earlier.append(current(at: url.description))
        hasCurrent = false
    }

    /// Returns the metrics of a request that ends now.
    func ended(at url: HTTPURL) -> Self {
        var metrics = describing(url)
        metrics.end = .now()
        return metrics
    }

    /// Returns the metrics with the URL of the last exchange.
    func describing(_ url: HTTPURL) -> Self {
        var metrics = self
        metrics.lastURL = url.description
        return metrics
    }
}

extension RequestHandle {
    /// Begins an exchange on a connection; confined to the session's event loop.
    ///
    /// - Parameters:
    ///   - record: The metrics of the connection; nil for a custom transport.
    ///   - isReused: Whether the connection was used before.
    ///   - now: The current time.
    func beginExchange(on record: ConnectionRecord?, isReused: Bool, _ now: NIODeadline) {
        endExchange()
        run.metrics.beginExchange(now, on: record, isReused: isReused)
    }

    /// Ends the current exchange, if there is one, before its URL changes; confined to the session's event loop.
    func endExchange() {
        guard run.metrics.hasCurrent else { return }
        let url = current.url
        run.metrics.endExchange(at: url)
    }
}

/// The metrics of a failed request.
final class FailedRun: Sendable {
    let metrics: RequestMetrics

    init(_ metrics: RequestMetrics) { self.metrics = metrics }
}
