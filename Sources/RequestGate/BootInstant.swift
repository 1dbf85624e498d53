/// An instant of the boot clock, which continues while the machine is suspended.
///
/// It is passed in by the caller.
///
/// The deadlines of requests use this clock, so that a timeout also elapses while a laptop is asleep.
package struct BootInstant: InstantProtocol, Sendable, Hashable {
    /// Nanoseconds of `CLOCK_BOOTTIME` (clock_gettime(2)).
    package let nanoseconds: Int64

    /// The distant future: later than every other instant.
    package static let never = Self(nanoseconds: .max)

    /// Creates an instant from nanoseconds of `CLOCK_BOOTTIME`.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the instant that is a duration later; ``never`` on overflow.
    package func advanced(by duration: Duration) -> Self {
        guard self != .never else { return self }
        let (sum, overflows) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return overflows ? .never : .init(nanoseconds: sum)
    }

    /// Returns the duration from this instant to another one.
    package func duration(to other: Self) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

    /// Orders by time.
    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to 64 bits (292 years).
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflows { return seconds < 0 ? .min : .max }
        let (sum, isTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}
