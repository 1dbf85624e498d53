package import ReachabilityCore

/// Decides when an access token is refreshed: once, even if many requests are rejected at the same time.
///
/// The time is passed in. It prevents endless refreshes if a server rejects tokens that were just issued.
package struct TokenRefresh: Sendable {
    /// The number of a token; 0 before there is one.
    package typealias Generation = UInt64

    /// The minimum time between two refreshes if the token in between was never accepted.
    package static let minimumInterval = Duration.seconds(10)

    /// The current token; nil if there is none.
    package private(set) var token: String?
    /// The number of the current token.
    package private(set) var generation: Generation
    /// Whether a refresh is in progress.
    package private(set) var isRefreshing = false
    private var refreshed: Instant?
    private var wasAccepted = false

    /// Creates the state of a session with or without a token.
    package init(token: String?) {
        self.token = token
        generation = token == nil ? 0 : 1
    }

    /// The consequence of a rejected request.
    package enum Verdict: Sendable, Hashable {
        /// There is a newer token: the request is retried with it.
        case retry
        /// The request waits for the next token, and the refresh starts now.
        case begin
        /// The request waits for the next token, whose refresh is in progress.
        case wait
        /// The rejection is the request's response.
        case end
    }

    /// Decides about a request that was rejected.
    ///
    /// - Parameters:
    ///   - sent: The number of the token that was sent; nil for none.
    ///   - wasRetried: Whether the request was rejected before and retried with a newer token.
    ///   - now: The current time.
    /// - Returns: The consequence.
    package mutating func refused(_ sent: Generation?, wasRetried: Bool, at now: Instant) -> Verdict {
        guard !wasRetried else { return .end }
        if isRefreshing { return .wait }
        if generation > sent ?? 0 { return .retry }
        if let refreshed, !wasAccepted, refreshed.duration(to: now) < Self.minimumInterval { return .end }
        isRefreshing = true
        return .begin
    }

    /// Records that a request with a token succeeded.
    package mutating func accepted(_ sent: Generation) {
        if sent == generation { wasAccepted = true }
    }

    /// Records the next token.
    package mutating func succeeded(_ token: String, at now: Instant) {
        self.token = token
        generation += 1
        (isRefreshing, refreshed, wasAccepted) = (false, now, false)
    }

    /// Records that the refresh failed.
    ///
    /// Waiting requests fail, and the next rejection starts another refresh.
    package mutating func failed() { isRefreshing = false }
}

extension TokenRefresh: CustomReflectable {
    /// A mirror without children: one is the token.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
