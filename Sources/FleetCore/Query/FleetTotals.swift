package import NetwatchCore

/// How many machines there are of each condition.
package struct FleetTotals: Hashable, Sendable {
    package var nodes = 0
    package var online = 0
    package var silent = 0
    /// The number of those of which nothing says whether they are connected.
    package var unknown = 0
    /// The number of those that are connected, and whose network is reachable.
    package var reachable = 0
    package var flapping = 0
    package var outages = 0
    /// The number of those of which no message was received.
    package var unheard = 0
    private var availabilities = 0
    private var availabilityCount = 0

    package init() {}

    /// The mean availability, as ``NodeStatus/availability``, rounded down; nil if none is known.
    package var availability: Int? { availabilityCount > 0 ? availabilities / availabilityCount : nil }

    /// The number of those that are connected, and whose network is not known to be reachable.
    package var notReachable: Int { online - reachable }

    /// Adds a machine, or subtracts it.
    mutating func add(_ node: NodeStatus, _ sign: Int) {
        nodes += sign
        switch node.presence {
        case .online: online += sign
        case .silent: silent += sign
        case .unknown: unknown += sign
        }
        if node.isReachable { reachable += sign }
        if node.isFlapping { flapping += sign }
        if !node.isKnown { unheard += sign }
        outages += sign * node.outages
        availabilities += sign * (node.availability ?? 0)
        availabilityCount += node.availability == nil ? 0 : sign
    }
}

/// Machines of one group that became silent together, and are silent.
package struct FleetBurst: Hashable, Sendable {
    /// The group, or the value of the label by which machines are grouped.
    package var name: String
    /// The number of the machines.
    package var count: Int
    /// The number of all machines of the group.
    package var all: Int
    /// When the first and the last became silent.
    package var start: Timestamp
    package var end: Timestamp

    /// Fewer machines are not reported together.
    static let minimum = 5
    /// The longest time between the first and the last of them, in nanoseconds.
    static let window = Span.minute

    /// `214 of site-3 silent within 60 s`.
    package var text: String {
        "\(count) of \(name.isEmpty ? "no group" : name.escapedForTerminal) silent within 60 s"
    }

    /// Finds the most that became silent together; nil if those are not enough.
    ///
    /// - Parameters:
    ///   - starts: When each of the silent machines of the group became silent, in nanoseconds since 1970.
    ///   - name: The group.
    ///   - all: The number of its machines.
    init?(_ starts: [Int64], of name: String, all: Int) {
        let starts = starts.sorted()
        var (best, first) = (0..<0, 0)
        for last in starts.indices {
            while starts[last] - starts[first] > Self.window { first += 1 }
            if last + 1 - first >= max(best.count, 1) { best = first..<last + 1 }
        }
        guard best.count >= Self.minimum else { return nil }
        (self.name, count, self.all) = (name, best.count, all)
        start = .init(nanosecondsSinceEpoch: starts[best.lowerBound])
        end = .init(nanosecondsSinceEpoch: starts[best.upperBound - 1])
    }
}
