package import ReachabilityCore

/// Decides when a token is got again: once, however many requests learn at the same time that it is refused.
///
/// Time is handed in, so that a token that is refused as soon as it is got does not make requests ask for the next one
/// without end.
public struct TokenRefresh: Sendable {
    /// Counts tokens; 0 before there is one.
    public typealias Generation = UInt64

    /// For how long a token that was refused at once stands, before another one is got.
    public static let rest = Duration.seconds(10)

    /// The present token; nil while there is none.
    public private(set) var token: String?
    /// Its number.
    public private(set) var generation: Generation
    /// Whether one is being got.
    public private(set) var isRefreshing = false
    private var refreshed: Instant?
    private var wasAccepted = false

    /// Begins with a token, or with none.
    public init(token: String?) {
        self.token = token
        generation = token == nil ? 0 : 1
    }

    /// What follows a refusal.
    public enum Verdict: Sendable, Hashable {
        /// There is a newer token already: the request goes again with it.
        case goAgain
        /// The request waits for the next token, which is got now.
        case begin
        /// The request waits for the next token, which is being got.
        case wait
        /// The refusal is the request's answer.
        case end
    }

    /// A request was refused.
    ///
    /// - Parameters:
    ///   - sent: The number of the token with which it went; nil if it had none.
    ///   - hasGoneAgain: Whether it was refused before, and went again with a newer token.
    ///   - now: The present moment.
    /// - Returns: What follows.
    package mutating func refused(_ sent: Generation?, hasGoneAgain: Bool, at now: Instant) -> Verdict {
        guard !hasGoneAgain else { return .end }
        if isRefreshing { return .wait }
        if generation > sent ?? 0 { return .goAgain }
        if let refreshed, !wasAccepted, refreshed.duration(to: now) < Self.rest { return .end }
        isRefreshing = true
        return .begin
    }

    /// A request went well that had a token.
    public mutating func accepted(_ sent: Generation) {
        if sent == generation { wasAccepted = true }
    }

    /// The next token is here.
    package mutating func succeeded(_ token: String, at now: Instant) {
        self.token = token
        generation += 1
        (isRefreshing, refreshed, wasAccepted) = (false, now, false)
    }

    /// No token could be got: who waits fails, and the next refusal tries again.
    public mutating func failed() { isRefreshing = false }
}

extension TokenRefresh: CustomReflectable {
    /// Has no children: one is the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
