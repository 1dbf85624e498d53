/// The attempts of one request so far: how far each came, and whether it may be sent again.
public struct AttemptHistory: Sendable, Hashable {
    /// How many attempts there were, the present one included.
    public private(set) var count = 0
    /// Whether a byte of the present attempt was handed to its connection.
    private var isSent = false
    private var hasResponse = false
    private var isReused = false
    private var mayHaveBeenProcessed = false
    private var wasResent = false

    /// Creates the history of a request that was not sent yet.
    public init() {}

    /// How far the request may have come over all its attempts.
    public var processing: Processing {
        if hasResponse { return .answered }
        return isSent || mayHaveBeenProcessed ? .maybeProcessed : .neverSent
    }

    /// An attempt begins.
    ///
    /// - Parameter isReused: Whether the connection has served another request before.
    public mutating func begin(isReused: Bool) {
        count += 1
        self.isReused = isReused
        isSent = false
    }

    /// The request's head was handed to the connection: from now on the server may have seen it.
    public mutating func sent() { isSent = true }

    /// The first byte of a response came.
    public mutating func responseBegan() { hasResponse = true }

    /// Decides whether a request whose connection was lost is sent again at once, and notes it.
    ///
    /// A connection that served others before may have been closed by the server while the request was on its way: the
    /// request is sent again, once, if the rules allow (RFC 9112, 9.3.1): nothing was answered, the method is idempotent
    /// (or nothing was sent), and the body can be read again.
    ///
    /// - Parameter isRepeatable: Whether method and body allow to send it twice.
    /// - Returns: Whether it is sent again.
    public mutating func resends(isRepeatable: Bool) -> Bool {
        guard isReused, !hasResponse, !wasResent, isRepeatable || !isSent else { return false }
        wasResent = true
        mayHaveBeenProcessed = mayHaveBeenProcessed || isSent
        isSent = false
        return true
    }

    /// Another attempt follows, as a policy or a response decides.
    ///
    /// - Parameter wasProcessed: Whether the last attempt may have been processed.
    public mutating func retry(wasProcessed: Bool) {
        mayHaveBeenProcessed = mayHaveBeenProcessed || wasProcessed
        isSent = false
        hasResponse = false
        wasResent = false
    }

    /// The attempt is given up, as when the user pauses a download: another one follows.
    public mutating func interrupt() { retry(wasProcessed: isSent) }
}

/// How far a failed request may have come: what decides whether it may be sent again.
public enum Processing: String, Sendable, Hashable, CaseIterable {
    /// No byte of it was handed to a connection: any method may be sent again.
    case neverSent
    /// The server says that it did nothing with it (421, 425; HTTP/2's REFUSED_STREAM).
    case refusedUnprocessed
    /// It was sent, wholly or in part, and no answer came: only what is idempotent may be sent again (RFC 9110, 9.2.2).
    case maybeProcessed
    /// The server has answered, at least with a head.
    case answered
}
