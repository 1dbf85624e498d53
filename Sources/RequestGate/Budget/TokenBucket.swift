/// A host's retry budget: each retry spends tokens, and each success returns some.
///
/// While a host is down, its requests together make a hundred retries, and after that one attempt each. The numbers are
/// those of the standard mode of the AWS SDKs.
/// | event | tokens |
/// |---|---|
/// | a retry | −5 |
/// | a retry after a timeout, which costs the server more | −10 |
/// | a success at the first attempt | +1 |
/// | a success after a retry | + the cost of that retry |
package struct TokenBucket: Sendable, Hashable {
    /// The maximum number of tokens.
    package let capacity: Int32
    /// The current number of tokens.
    package private(set) var tokens: Int32

    /// Creates a full bucket.
    ///
    /// A negative capacity is treated as 0.
    package init(capacity: Int32 = 500) {
        self.capacity = max(capacity, 0)
        tokens = self.capacity
    }

    /// Whether the bucket is full, so that the host's state need not be kept.
    package var isFull: Bool { tokens == capacity }

    /// Returns the number of tokens that a retry costs.
    package static func cost(isTimeout: Bool) -> Int32 { isTimeout ? 10 : 5 }

    /// Spends the cost of a retry.
    ///
    /// Returns `false`, and spends nothing, if there are too few tokens.
    package mutating func take(isTimeout: Bool) -> Bool {
        let cost = Self.cost(isTimeout: isTimeout)
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    /// Returns the cost of the request's last retry to the bucket, or 1 token if the first attempt succeeded.
    package mutating func succeeded(cost: Int32 = 1) { tokens += min(max(cost, 0), capacity - tokens) }
}
