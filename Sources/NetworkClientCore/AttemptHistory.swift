/// The attempts of one request so far: how far each one got, and whether the request may be resent.
package struct AttemptHistory: Sendable, Hashable {
    /// The number of attempts, including the current one.
    package private(set) var count = 0
    /// Whether a byte of the current attempt was passed to its connection.
    private var isSent = false
    private var hasResponse = false
    private var isReused = false
    private var mayHaveBeenProcessed = false
    /// Whether an earlier attempt may have taken effect: it was sent, and no status says that it was not processed.
    package private(set) var mayHaveTakenEffect = false
    private var wasResent = false
    private var refusals: UInt8 = 0

    /// Creates the history of a request that has not been sent.
    package init() {}

    /// The furthest stage that the request may have reached in all its attempts.
    package var processing: Processing {
        if hasResponse { return .answered }
        return isSent || mayHaveBeenProcessed ? .maybeProcessed : .neverSent
    }

    /// Records the start of an attempt.
    ///
    /// - Parameter isReused: Whether the connection has served another request before.
    package mutating func begin(isReused: Bool) {
        count += 1
        self.isReused = isReused
        isSent = false
    }

    /// Records that the request's head was passed to the connection: from now on the server may have seen it.
    package mutating func sent() { isSent = true }

    /// Records that the request, which was passed to something other than a connection, was not sent.
    package mutating func notSent() { isSent = false }

    /// Records the first byte of a response.
    package mutating func responseBegan() { hasResponse = true }

    /// Decides whether a request whose connection was lost is resent immediately, and records the decision.
    ///
    /// The server may have closed a reused connection while the request was on its way. The request is then resent
    /// once, if RFC 9112, 9.3.1, allows it: no response has begun, the method is idempotent (or nothing was sent), and
    /// the body can be read again.
    ///
    /// - Parameter isRepeatable: Whether the method and the body allow the request to be sent twice.
    /// - Returns: Whether the request is resent.
    package mutating func resends(isRepeatable: Bool) -> Bool {
        guard isReused, !hasResponse, !wasResent, isRepeatable || !isSent else { return false }
        wasResent = true
        mayHaveBeenProcessed = mayHaveBeenProcessed || isSent
        mayHaveTakenEffect = mayHaveTakenEffect || isSent
        isSent = false
        return true
    }

    /// The maximum number of times that a request is resent because it was not processed.
    private static let maximumRefusals: UInt8 = 16

    /// Decides whether a request that the server has not processed is resent immediately, and records the decision.
    ///
    /// - Returns: Whether the request is resent: not after many refusals, which the retry policy handles.
    package mutating func resendsUnprocessed() -> Bool {
        isSent = false
        guard refusals < Self.maximumRefusals else { return false }
        refusals += 1
        return true
    }

    /// Records that another attempt follows, by a decision of a policy or because of a response.
    ///
    /// - Parameters:
    ///   - wasProcessed: Whether the last attempt may have been processed.
    ///   - isRejected: Whether its status says that it was not processed.
    package mutating func retry(wasProcessed: Bool, isRejected: Bool = false) {
        mayHaveBeenProcessed = mayHaveBeenProcessed || wasProcessed
        mayHaveTakenEffect = mayHaveTakenEffect || (wasProcessed && !isRejected)
        isSent = false
        hasResponse = false
        wasResent = false
    }

    /// Records that the attempt is abandoned, for example because the user pauses a download.
    ///
    /// Another one follows.
    package mutating func interrupt() { retry(wasProcessed: isSent) }
}

/// The stage that a failed request may have reached, which decides whether it may be resent.
public enum Processing: String, Sendable, Hashable, CaseIterable {
    /// No byte of the request was passed to a connection: it may be resent with any method.
    case neverSent
    /// The server reported that it did not process the request (421, 425; HTTP/2's REFUSED_STREAM).
    case refusedUnprocessed
    /// The request was sent, wholly or in part, without a response: it may be resent only if it is idempotent (RFC
    /// 9110, 9.2.2).
    case maybeProcessed
    /// The server has sent a response, at least its head.
    case answered
}
