/// A request's life: one machine, from the call to its one end.
///
/// Whatever waits (a gate, a pool, a connection that is being opened) is a wait here; whatever fails becomes one decision.
public struct RequestLife: Sendable, Hashable {
    /// Where a request is.
    public enum Phase: String, Sendable, Hashable {
        /// It was not started.
        case ready
        /// It waits for a connection, or for what a gate waits for.
        case waiting
        /// It is on a connection.
        case running
        /// It has ended, well or not.
        case finished
    }

    /// Where it is.
    public private(set) var phase = Phase.ready
    /// How often it was handed to a connection.
    public private(set) var attempts = 0
    /// Whether a byte of it was handed to the present connection.
    private var isSent = false
    private var hasAnswer = false
    private var isReused = false
    private var mayHaveBeenProcessed = false
    private var wasSentAgain = false

    /// Makes the life of a request that is not started.
    public init() {}

    /// How far the request may have come over all its attempts.
    public var processing: Processing {
        if hasAnswer { return .answered }
        return isSent || mayHaveBeenProcessed ? .maybeProcessed : .neverSent
    }

    /// It is to be sent; whether it was not before.
    public mutating func start() -> Bool {
        guard phase == .ready else { return false }
        phase = .waiting
        return true
    }

    /// A connection takes it.
    ///
    /// - Parameter isReused: Whether the connection has served another request before.
    /// - Returns: Whether it is still wanted.
    public mutating func assigned(isReused: Bool) -> Bool {
        guard phase == .waiting else { return false }
        phase = .running
        attempts += 1
        self.isReused = isReused
        isSent = false
        return true
    }

    /// Its head was handed to the channel: from now on the server may have seen it.
    public mutating func sent() { isSent = true }

    /// The first byte of an answer came.
    public mutating func answered() { hasAnswer = true }

    /// What follows a failure.
    public enum Verdict: Sendable, Hashable {
        /// It goes again, on a connection that was never used.
        case sendAgain
        /// It has failed.
        case fail(Processing)
        /// It had ended before.
        case none
    }

    /// It failed on its connection, or before it had one.
    ///
    /// A connection that served others before may have been closed by the server while the request was on its way: the
    /// request goes again, once, if the rules allow (RFC 9112, 9.3.1): nothing was answered, the method is idempotent (or
    /// nothing was sent), and the body can be made again.
    ///
    /// - Parameters:
    ///   - isLoss: Whether the connection was lost, rather than too slow, or the answer wrong.
    ///   - isRepeatable: Whether method and body allow to send it twice.
    ///   - isRefusal: Whether the server says that it did nothing with it.
    /// - Returns: What follows.
    public mutating func failed(isLoss: Bool, isRepeatable: Bool, isRefusal: Bool = false) -> Verdict {
        guard phase != .finished else { return .none }
        if phase == .running, isLoss, isReused, !hasAnswer, !wasSentAgain, isRepeatable || !isSent {
            wasSentAgain = true
            mayHaveBeenProcessed = mayHaveBeenProcessed || isSent
            isSent = false
            phase = .waiting
            return .sendAgain
        }
        phase = .finished
        return .fail(isRefusal ? .refusedUnprocessed : processing)
    }

    /// It had failed, or been answered, and goes again all the same: as a policy decides.
    ///
    /// - Parameter wasProcessed: Whether the last attempt may have been processed.
    public mutating func goesAgain(wasProcessed: Bool) {
        guard phase == .finished else { return }
        phase = .waiting
        mayHaveBeenProcessed = mayHaveBeenProcessed || wasProcessed
        isSent = false
        hasAnswer = false
        wasSentAgain = false
    }

    /// Its user has paused it, and its connection was given up: it goes on with another one.
    public mutating func interrupted() {
        guard phase == .running else { return }
        phase = .waiting
        mayHaveBeenProcessed = mayHaveBeenProcessed || isSent
        isSent = false
        hasAnswer = false
        wasSentAgain = false
    }

    /// It is wanted no more; whether it had not ended before.
    public mutating func cancel() -> Bool {
        guard phase != .finished else { return false }
        phase = .finished
        return true
    }

    /// Its answer is whole; whether it had not ended before.
    public mutating func ended() -> Bool {
        guard phase == .running else { return false }
        phase = .finished
        return true
    }
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
