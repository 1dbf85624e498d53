/// How often and when a request that failed goes again.
public struct RetryPolicy: Sendable, Hashable {
    /// How many attempts there are at most, the first included; waits for connectivity are none.
    public var maximumAttempts: Int
    /// The upper bound of the first delay; each further bound is twice the one before.
    public var baseDelay: Duration
    /// The bound that no delay exceeds, unless a server asks for more by `Retry-After`.
    public var maximumDelay: Duration
    /// The statuses after which an idempotent request goes again.
    public var retryableStatuses: Set<Int>
    /// The statuses after which every other request goes again too: those that say that nothing was done.
    public var statusesOfUnprocessed: Set<Int>

    /// Sets each number.
    public init(
        maximumAttempts: Int = 3,
        baseDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(20),
        retryableStatuses: Set<Int> = [408, 429, 500, 502, 503, 504],
        statusesOfUnprocessed: Set<Int> = [421, 425, 429]
    ) {
        self.maximumAttempts = maximumAttempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.retryableStatuses = retryableStatuses
        self.statusesOfUnprocessed = statusesOfUnprocessed
    }

    /// One attempt and no more.
    public static let never = Self(maximumAttempts: 1)
    /// Three attempts, full jitter up to 0.5 s, 1 s, … 20 s.
    public static let standard = Self()

    /// Whether anything is ever sent again.
    public var retries: Bool { maximumAttempts > 1 }
}
