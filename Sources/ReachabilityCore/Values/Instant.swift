/// A point in time of the machine's monotonic clock.
///
/// It is passed in: pure targets never read a clock.
package struct Instant: InstantProtocol, Sendable, Hashable {
    /// The nanoseconds of `CLOCK_MONOTONIC`, which stops while the machine is suspended (clock_gettime(2)).
    package let nanoseconds: Int64

    /// Creates an instant from nanoseconds of `CLOCK_MONOTONIC`.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the instant that is a duration after this one, clamped to 292 years.
    package func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (length, isLonger) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, isTooFar) = nanoseconds.addingReportingOverflow(length)
        guard isTooLong || isLonger || isTooFar else { return .init(nanoseconds: sum) }
        return .init(nanoseconds: duration < .zero ? .min : .max)
    }

    /// Returns the duration from this instant to another, clamped to 292 years.
    package func duration(to other: Self) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(overflow ? (other < self ? .min : .max) : difference)
    }

    /// Returns the earlier of two instants; nil means never.
    static func earlier(_ one: Self?, _ other: Self?) -> Self? {
        guard let one else { return other }
        guard let other else { return one }
        return min(one, other)
    }

    /// Orders by time.
    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}
