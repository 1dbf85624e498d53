package import NetwatchCore

/// The machines of a fleet that match a filter, the worst first, with their numbers.
///
/// It is brought up to date by the changes of the model only: nothing is sorted or counted again for a frame.
package struct FleetBoard: Sendable {
    package init(filter: FleetFilter = .all, grouping: FleetGrouping? = nil) {}

    /// Follows the model.
    ///
    /// - Returns: Whether anything has changed that is shown.
    package mutating func update(from model: inout FleetModel) -> Bool { false }

    /// The number of machines.
    package var count: Int { 0 }

    /// Returns the machines at positions in the order, the worst first.
    package func nodes(_ range: Range<Int>, in model: FleetModel) -> [NodeStatus] { [] }

    /// The numbers of all machines.
    package var totals: FleetTotals { .init() }

    /// The numbers of each group, the worst first; empty without a grouping.
    package var groups: [(name: String, totals: FleetTotals)] { [] }

    /// The machines of a group that became silent together, the newest first.
    package var bursts: [FleetBurst] { [] }

    /// The exit code of `--once`: 0 if all machines are reachable, 1 if some are not, 2 if nothing is known of any.
    package var exitCode: Int32 { 2 }
}

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
    /// The mean availability, as ``NodeStatus/availability``; nil if none is known.
    package var availability: Int? { nil }
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

    /// `214 of 250 of site-3 silent within 60 s`.
    package var text: String { "" }
}
