/// How many retries a host is good for: each takes from it, each success gives back.
///
/// While a host is down, its requests together make a hundred retries and then one attempt each. The numbers are those of
/// the standard mode of the AWS SDKs.
///
/// | what | tokens |
/// |---|---|
/// | a retry | −5 |
/// | a retry after a timeout, which has cost the server more | −10 |
/// | a success at the first attempt | +1 |
/// | a success after a retry | + what that retry took |
public struct TokenBucket: Sendable, Hashable {
    /// The most it holds.
    public let capacity: Int32
    /// What it holds.
    public private(set) var tokens: Int32

    /// Makes a full one; a capacity below nothing is none.
    public init(capacity: Int32 = 500) {
        self.capacity = max(capacity, 0)
        tokens = self.capacity
    }

    /// Whether nothing is missing, so that it need not be kept.
    public var isFull: Bool { tokens == capacity }

    /// What a retry takes.
    public static func cost(isTimeout: Bool) -> Int32 { isTimeout ? 10 : 5 }

    /// Takes what a retry costs, and says whether there was enough; if not, nothing was taken.
    public mutating func take(isTimeout: Bool) -> Bool {
        let cost = Self.cost(isTimeout: isTimeout)
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    /// Gives back what the request's last retry took, or 1 if it succeeded at once.
    public mutating func succeeded(cost: Int32 = 1) { tokens += min(max(cost, 0), capacity - tokens) }
}
