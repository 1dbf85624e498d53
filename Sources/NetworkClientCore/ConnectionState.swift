/// The state of an HTTP/1.1 connection, which decides whether it can serve another request (RFC 9112, 9).
package struct ConnectionState: Sendable, Hashable {
    enum Phase: Sendable, Hashable {
        case idle
        case busy(isRequestSent: Bool, hasResponse: Bool, keepsAlive: Bool)
        case closed
    }

    private(set) var phase = Phase.idle
    /// The number of requests that it has served, including the current one.
    package private(set) var requests = 0

    /// Creates the state of a connection that was just opened.
    package init() {}

    /// Whether a request uses it.
    package var isBusy: Bool { if case .busy = phase { true } else { false } }
    /// Whether it is closed or has to be closed.
    package var isClosed: Bool { phase == .closed }
    /// Whether the head of the final response has arrived.
    package var hasResponse: Bool { if case .busy(_, true, _) = phase { true } else { false } }
    /// Whether the whole request was passed to the connection.
    package var isRequestSent: Bool { if case .busy(true, _, _) = phase { true } else { false } }
    /// Whether it served another request before the current one.
    package var isReused: Bool { requests > 1 }

    /// The use of a connection after a response.
    package enum Disposition: Sendable, Hashable {
        /// It can serve another request.
        case reuse
        /// It has to be closed.
        case close
    }

    /// Records the start of a request.
    ///
    /// - Returns: Whether the request may be sent: the connection may be in use or closed.
    package mutating func begin() -> Bool {
        guard phase == .idle else { return false }
        requests += 1
        phase = .busy(isRequestSent: false, hasResponse: false, keepsAlive: true)
        return true
    }

    /// Records that the whole request was passed to the connection.
    package mutating func requestSent() {
        guard case .busy(_, let hasResponse, let keepsAlive) = phase else { return }
        phase = .busy(isRequestSent: true, hasResponse: hasResponse, keepsAlive: keepsAlive)
    }

    /// Records the head of the final response.
    ///
    /// - Parameter keepsAlive: Whether the connection persists according to the version and the `Connection` field (RFC
    ///   9112, 9.3).
    /// - Returns: Whether a response was expected.
    package mutating func receivedHead(keepsAlive: Bool) -> Bool {
        guard case .busy(let isSent, false, _) = phase else { return false }
        phase = .busy(isRequestSent: isSent, hasResponse: true, keepsAlive: keepsAlive)
        return true
    }

    /// Records the end of the response.
    ///
    /// - Returns: The use of the connection. If the response was complete before the request, the connection has to be
    ///   closed, since nothing can follow the incomplete request (RFC 9112, 9.5).
    package mutating func ended() -> Disposition {
        guard case .busy(true, true, true) = phase else {
            phase = .closed
            return .close
        }
        phase = .idle
        return .reuse
    }

    /// Records that the connection was closed or has to be closed.
    package mutating func close() { phase = .closed }
}
