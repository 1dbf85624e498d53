package import ReachabilityCore

/// The counters of a service that outlive it.
package struct EventTotals: Hashable, Sendable {
    /// The time in each state, in nanoseconds.
    package var nanoseconds: [ReachabilityStatus: Int64] = [:]
    /// How often the network became unreachable.
    package var outages: UInt64 = 0
    /// The changes by reason.
    package var reasons: [String: UInt64] = [:]

    /// Creates counters at 0.
    package init() {}

    /// Returns the sums of two.
    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.nanoseconds.merge(right.nanoseconds) { $0.addingReportingOverflow($1).partialValue }
        sum.outages &+= right.outages
        sum.reasons.merge(right.reasons, uniquingKeysWith: &+)
        return sum
    }

    /// Returns what was added since earlier counters; a counter that is less than it was has grown by nothing.
    package func growth(since earlier: Self) -> Self {
        var growth = self
        for (state, value) in nanoseconds {
            let known = earlier.nanoseconds[state] ?? 0
            growth.nanoseconds[state] = value > known ? value - known : 0
        }
        growth.outages = outages > earlier.outages ? outages - earlier.outages : 0
        for (reason, value) in reasons {
            let known = earlier.reasons[reason] ?? 0
            growth.reasons[reason] = value > known ? value - known : 0
        }
        return growth
    }
}

extension EventTotals {
    private static let outagesName = "outages"
    private static let statePrefix = "state."
    private static let reasonPrefix = "reason."

    /// Reads counters by their names; those with other names, and negative ones, are left out.
    package init(named values: [String: Int64]) {
        for (name, value) in values where value >= 0 {
            if name == Self.outagesName { outages = UInt64(value) }
            if name.hasPrefix(Self.reasonPrefix) {
                reasons[String(name.dropFirst(Self.reasonPrefix.count))] = UInt64(value)
            }
            let state = ReachabilityStatus.allCases.first { name == Self.statePrefix + $0.name }
            if let state { nanoseconds[state] = value }
        }
    }

    /// The counters by name.
    package var named: [String: Int64] {
        var values = [Self.outagesName: Int64(clamping: outages)]
        for (state, value) in nanoseconds { values[Self.statePrefix + state.name] = value }
        for (reason, value) in reasons { values[Self.reasonPrefix + reason] = Int64(clamping: value) }
        return values
    }
}
