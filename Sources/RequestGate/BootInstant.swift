/// A moment on the clock that goes on while the machine is suspended, handed in from outside.
///
/// Deadlines of requests lie on it: a request that was to wait a minute does not wait for ever in a laptop's bag.
public struct BootInstant: InstantProtocol, Sendable, Hashable {
    /// Nanoseconds of `CLOCK_BOOTTIME` (clock_gettime(2)).
    public let nanoseconds: Int64

    /// Behind all moments.
    public static let never = Self(nanoseconds: .max)

    /// Makes a moment from nanoseconds of `CLOCK_BOOTTIME`.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The moment that lies a duration after this one; ``never`` where that is beyond what can be counted.
    public func advanced(by duration: Duration) -> Self {
        guard self != .never else { return self }
        let (sum, overflows) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return overflows ? .never : .init(nanoseconds: sum)
    }

    /// How long it is from this moment to another.
    public func duration(to other: Self) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

    /// Orders by time.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// Whole nanoseconds, as far as 64 bits reach (292 years).
    public var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflows { return seconds < 0 ? .min : .max }
        let (sum, isTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}
