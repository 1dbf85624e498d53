package import ValidationCore

/// The number of probes that may still be sent, in any 24 hours.
///
/// The first half may be spent at any time. The second half is spread over the day.
package struct ProbeBudget: Sendable, Hashable {
    /// The maximum number of probes in ``period`` that nobody asked for.
    package let limit: Int
    /// The times of the probes within the period, in order.
    private var times: [ValidationInstant] = []

    /// 24 hours.
    package static let period = Duration.seconds(86_400)

    /// Creates a budget of which nothing was spent.
    package init(limit: Int) { self.limit = max(limit, 0) }

    /// The number of probes in the period before an instant.
    package func spent(at now: ValidationInstant) -> Int { times.count - expired(at: now) }

    /// Computes when probes may be sent that nobody asked for.
    ///
    /// - Parameters:
    ///   - count: Their number.
    ///   - now: The current time.
    /// - Returns: The earliest time; nil if that is never.
    package func earliestTime(for count: Int, at now: ValidationInstant) -> ValidationInstant? {
        guard count <= limit else { return nil }
        let recent = times.dropFirst(expired(at: now))
        let excess = recent.count + count - limit
        let free = excess > 0 ? recent[recent.startIndex + excess - 1].advanced(by: Self.period) : now
        guard recent.count + count > limit / 2, let last = recent.last else { return max(free, now) }
        let spacing = Self.period * count / max(limit - limit / 2, 1)
        return max(free, last.advanced(by: spacing), now)
    }

    /// Records a probe.
    package mutating func spend(at now: ValidationInstant) {
        times.removeFirst(expired(at: now))
        times.append(now)
    }

    /// The number of probes that no longer count; one that was sent exactly 24 hours ago does not.
    private func expired(at now: ValidationInstant) -> Int {
        times.firstIndex { $0.advanced(by: Self.period) > now } ?? times.count
    }
}
