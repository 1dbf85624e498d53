package import NetworkClientCore

/// The properties of a request that decide whether it may be retried.
package struct RequestTraits: Sendable, Hashable {
    /// Whether sending it twice has the effect of sending it once: by its method (RFC 9110, 9.2.2) or an idempotency
    /// key.
    package var isIdempotent: Bool
    /// Whether its body can be produced again.
    package var isReplayable: Bool

    /// Creates the properties.
    package init(isIdempotent: Bool, isReplayable: Bool) {
        self.isIdempotent = isIdempotent
        self.isReplayable = isReplayable
    }
}

/// The failure of an attempt.
package struct AttemptFailure: Sendable, Hashable {
    /// The kind of failure.
    package var kind: Kind
    /// The furthest stage that the request may have reached in all attempts so far.
    package var processing: Processing
    /// The delay that the server requested with `Retry-After`, from now.
    package var retryAfter: Duration?

    /// Creates a failure.
    package init(_ kind: Kind, _ processing: Processing, retryAfter: Duration? = nil) {
        self.kind = kind
        self.processing = processing
        self.retryAfter = retryAfter
    }

    /// The kinds of failure.
    package enum Kind: Sendable, Hashable {
        /// The network or the server failed, and another attempt may succeed.
        case transient
        /// As ``transient``, by exceeding a timeout.
        case timeout
        /// No server listens, or the server is overloaded.
        case refused
        /// The server responded with a status other than success.
        case status(Int)
        /// The path is lost, as a new lookup confirms. Waiting for a path does not count as an attempt.
        case pathLost
        /// Another attempt would fail in the same way: an invalid URL, an untrusted certificate, a response that is too
        /// large, or cancellation.
        case permanent
    }
}

/// The consequence of a failure, and its reason.
public enum RetryDecision: Sendable, Hashable {
    /// The request is retried after a delay.
    case retry(in: Duration, because: RetryReason)
    /// The request waits for a path and is then sent again.
    case waitForPath
    /// The request has failed.
    case giveUp(because: GiveUpReason)
}

/// The reason why a request is retried.
public enum RetryReason: String, Sendable, Hashable, CaseIterable {
    /// No byte of the request was sent.
    case neverSent
    /// The server did not process the request.
    case refusedUnprocessed
    /// The request is idempotent.
    case idempotent
    /// The status of the response allows a retry.
    case status
    /// An interceptor requested the retry.
    case interceptor
}

/// The reason why a request is not retried.
public enum GiveUpReason: String, Sendable, Hashable, CaseIterable {
    /// The policy does not retry.
    case noPolicy
    /// Another attempt would fail in the same way.
    case permanent
    /// The request may have been processed, and it is not idempotent.
    case notIdempotent
    /// The body can't be produced again.
    case notReplayable
    /// The status of the response is not retryable.
    case status
    /// The maximum number of attempts has been made.
    case attempts
    /// The host's retry budget is spent: too many requests failed recently.
    case budget
    /// The host's circuit breaker is open.
    case breaker
    /// The next attempt would be after the deadline of the request.
    case deadline
    /// An interceptor rejected a retry.
    case interceptor
}

/// The delay that a server requests with the `Retry-After` field (RFC 9110, 10.2.3).
package enum RetryAfter {
    /// Parses the field: a number of seconds, or a date, which is compared with the `Date` of the same response.
    ///
    /// This way the clocks of client and server need not agree; a date can't be used if the response has no `Date`. A
    /// date in the past is a delay of zero, and a delay that overflows is clamped.
    ///
    /// - Parameters:
    ///   - field: The value of `Retry-After`.
    ///   - date: The value of the same response's `Date`.
    /// - Returns: The delay; nil if the field is invalid, which is treated as no field.
    package static func duration(_ field: String, date: String?) -> Duration? {
        if let seconds = seconds(field) { return seconds }
        guard let now = date.flatMap({ HTTPDate($0) }),
            let then = HTTPDate(field, currentYear: now.year)
        else { return nil }
        return .seconds(min(max(then.seconds - now.seconds, 0), longest))
    }

    private static let longest = Int64.max / 1_000_000_000

    private static func seconds(_ field: String) -> Duration? {
        let digits = field.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        guard !digits.isEmpty, digits.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? longest
        return .seconds(min(seconds, longest))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
}
