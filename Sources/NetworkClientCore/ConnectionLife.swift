/// Whether an HTTP/1.1 connection can serve another request (RFC 9112, 9).
public struct ConnectionLife: Sendable, Hashable {
    enum Phase: Sendable, Hashable {
        case idle
        case busy(isRequestSent: Bool, hasAnswer: Bool, keepsAlive: Bool)
        case closed
    }

    private(set) var phase = Phase.idle
    /// How many requests it has served, the present one included.
    public private(set) var requests = 0

    /// Makes the life of a connection that was just opened.
    public init() {}

    /// Whether a request is on it.
    public var isBusy: Bool { if case .busy = phase { true } else { false } }
    /// Whether it is over.
    public var isClosed: Bool { phase == .closed }
    /// Whether the head of an answer has come.
    public var hasAnswer: Bool { if case .busy(_, true, _) = phase { true } else { false } }
    /// Whether the whole request was handed over.
    public var isRequestSent: Bool { if case .busy(true, _, _) = phase { true } else { false } }
    /// Whether it has served another request before the present one.
    public var isReused: Bool { requests > 1 }

    /// What to do with the connection once the answer is whole.
    public enum Disposition: Sendable, Hashable {
        /// It can serve another request.
        case reuse
        /// It has to be closed.
        case close
    }

    /// A request begins.
    ///
    /// - Returns: Whether it may: the connection may have been closed meanwhile.
    public mutating func begin() -> Bool {
        guard phase == .idle else { return false }
        requests += 1
        phase = .busy(isRequestSent: false, hasAnswer: false, keepsAlive: true)
        return true
    }

    /// The whole request was handed over.
    public mutating func requestSent() {
        guard case .busy(_, let hasAnswer, let keepsAlive) = phase else { return }
        phase = .busy(isRequestSent: true, hasAnswer: hasAnswer, keepsAlive: keepsAlive)
    }

    /// The head of the final answer came.
    ///
    /// - Parameter keepsAlive: Whether by version and `Connection` field the connection persists (RFC 9112, 9.3).
    /// - Returns: Whether an answer was due.
    public mutating func answered(keepsAlive: Bool) -> Bool {
        guard case .busy(let isSent, false, _) = phase else { return false }
        phase = .busy(isRequestSent: isSent, hasAnswer: true, keepsAlive: keepsAlive)
        return true
    }

    /// The answer is whole.
    ///
    /// - Returns: What to do with the connection. An answer that came before the request was sent leaves the rest of the
    ///   request on the way, so that nothing can follow it (RFC 9112, 9.5).
    public mutating func ended() -> Disposition {
        guard case .busy(true, true, true) = phase else {
            phase = .closed
            return .close
        }
        phase = .idle
        return .reuse
    }

    /// The connection was closed, or has to be.
    public mutating func close() { phase = .closed }
}
