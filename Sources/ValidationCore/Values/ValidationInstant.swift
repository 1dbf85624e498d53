/// A point in time of the machine's boot clock, which continues while the machine is suspended.
///
/// It is passed in: this target never reads a clock.
public struct ValidationInstant: InstantProtocol, Sendable, Hashable {
    /// Nanoseconds of `CLOCK_BOOTTIME` (clock_gettime(2)).
    public let nanoseconds: Int64

    /// Creates an instant from nanoseconds of `CLOCK_BOOTTIME`.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the instant that is a duration later, clamped to what fits.
    public func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (length, isTooLong) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, isTooLate) = nanoseconds.addingReportingOverflow(length)
        guard overflows || isTooLong || isTooLate else { return .init(nanoseconds: sum) }
        return .init(nanoseconds: duration < .zero ? .min : .max)
    }

    /// Returns the duration from this instant to another, clamped to 292 years.
    public func duration(to other: Self) -> Duration {
        let (difference, overflows) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(overflows ? (other < self ? .min : .max) : difference)
    }

    /// Orders by time.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}
