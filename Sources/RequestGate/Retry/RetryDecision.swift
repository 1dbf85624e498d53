public import NetworkClientCore

/// What a policy has to know of a request.
public struct RequestTraits: Sendable, Hashable {
    /// Whether doing it twice is as good as once: by its method (RFC 9110, 9.2.2), or by an idempotency key.
    public var isIdempotent: Bool
    /// Whether its body can be made again.
    public var isReplayable: Bool

    /// Sets both.
    public init(isIdempotent: Bool, isReplayable: Bool) {
        self.isIdempotent = isIdempotent
        self.isReplayable = isReplayable
    }
}

/// How an attempt ended that was no success.
public struct AttemptFailure: Sendable, Hashable {
    /// What kind of failure it was.
    public var kind: Kind
    /// How far the request may have come, over all attempts so far.
    public var processing: Processing
    /// How long the server wants to be left alone, counted from now.
    public var retryAfter: Duration?

    /// Sets each.
    public init(_ kind: Kind, _ processing: Processing, retryAfter: Duration? = nil) {
        self.kind = kind
        self.processing = processing
        self.retryAfter = retryAfter
    }

    /// The kinds of failures.
    public enum Kind: Sendable, Hashable {
        /// The network or the server failed: another attempt may well succeed.
        case transient
        /// As ``transient``, and it took as long as it was allowed to.
        case timeout
        /// Nobody listens, or the server sheds load.
        case refused
        /// The server answered with a status that is no success.
        case status(Int)
        /// The path is gone, as a fresh lookup confirms: to be waited for, which is no attempt.
        case pathLost
        /// Another attempt would fail the same: a bad URL, no trust, an answer too large, cancelled.
        case permanent
    }
}

/// What follows a failure, and why.
public enum RetryDecision: Sendable, Hashable {
    /// It goes again after a delay.
    case retry(in: Duration, because: RetryReason)
    /// It waits until there is a path, and goes again then.
    case waitForPath
    /// It has failed.
    case giveUp(because: GiveUpReason)
}

/// Why a request goes again.
public enum RetryReason: String, Sendable, Hashable, CaseIterable {
    /// No byte of it had been sent.
    case neverSent
    /// The server did nothing with it.
    case refusedUnprocessed
    /// It may be done twice.
    case idempotent
    /// The server's status says to try later.
    case status
    /// An interceptor wants it.
    case interceptor
}

/// Why a request does not go again.
public enum GiveUpReason: String, Sendable, Hashable, CaseIterable {
    /// There is no policy of retrying.
    case noPolicy
    /// Another attempt would fail the same.
    case permanent
    /// It may have been processed, and doing it twice is not the same as once.
    case notIdempotent
    /// Its body can't be made again.
    case notReplayable
    /// The answer's status is none of those after which it goes again.
    case status
    /// All attempts were made.
    case attempts
    /// The host has failed too often of late: its budget of retries is spent.
    case budget
    /// The host's circuit breaker is open.
    case breaker
    /// The next attempt would be after its deadline.
    case deadline
    /// An interceptor wants no more.
    case interceptor
}

/// How long a server wants to be left alone, by the field `Retry-After` (RFC 9110, 10.2.3).
public enum RetryAfter {
    /// Reads the field: seconds, or a date, which counts from the date that the answer itself bears.
    ///
    /// The clocks of both ends need not agree; a date is no use where the answer has none of its own. What is past is
    /// no time at all, and what is beyond counting is as long as can be counted.
    ///
    /// - Parameters:
    ///   - field: the value of `Retry-After`.
    ///   - date: the value of the same answer's `Date`.
    /// - Returns: nil if the field can't be understood: it is as if there were none.
    public static func duration(_ field: String, date: String?) -> Duration? {
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
