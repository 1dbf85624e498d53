import NetwatchCore
import ReachabilityCore

/// The machines of a fleet that match a filter, the worst first, with their numbers.
///
/// It is brought up to date by the changes of the model only: nothing is sorted or counted again for a frame.
package struct FleetBoard: Sendable {
    private let filter: FleetFilter
    /// By what the machines are counted together; nil if they are not.
    package let grouping: FleetGrouping?
    /// The numbers of all machines.
    package private(set) var totals = FleetTotals()
    /// The numbers of each group, the worst first; empty without a grouping.
    package private(set) var groups: [(name: String, totals: FleetTotals)] = []
    /// The machines of a group that are silent since about the same time, the newest first.
    package private(set) var bursts: [FleetBurst] = []
    /// The positions of the machines in the model, the worst first.
    private var order: [Int] = []
    /// Each machine as it was counted, by its position in the model; nil if it does not match.
    private var counted: [NodeStatus?] = []
    private var totalsByGroup: [String: FleetTotals] = [:]
    private var sizes: [String: Int] = [:]
    /// The changes of the model that were taken.
    private var changeCount = 0
    /// The widest name of a machine, in columns.
    private(set) var widestName = 0

    /// Creates a board without machines.
    package init(filter: FleetFilter = .all, grouping: FleetGrouping? = nil) {
        self.filter = filter
        self.grouping = grouping
    }

    /// The number of machines.
    package var count: Int { order.count }

    /// Returns the machines at positions in the order, the worst first.
    package func nodes(_ range: Range<Int>, in model: FleetModel) -> [NodeStatus] {
        order[range.clamped(to: order.indices)].compactMap { counted[$0] }
    }

    /// The exit code of `--once`: 0 if all machines are reachable, 1 if some are not, 2 if nothing is known of any.
    package var exitCode: Int32 {
        if totals.nodes == totals.unheard { return 2 }
        return totals.reachable == totals.nodes ? 0 : 1
    }

    /// Follows the model.
    ///
    /// - Returns: Whether anything has changed that is shown.
    package mutating func update(from model: inout FleetModel) -> Bool {
        model.settle()
        let changed = model.changes(since: changeCount).map(Array.init) ?? Array(0..<model.count)
        changeCount = model.changeCount
        let moved = changed.filter { take($0, model.status(at: $0)) }
        guard !moved.isEmpty else { return false }
        sort(Set(moved))
        describeGroups()
        return true
    }

    /// Counts a machine as it is now.
    ///
    /// - Returns: Whether it is shown differently.
    private mutating func take(_ position: Int, _ node: NodeStatus) -> Bool {
        while counted.count <= position { counted.append(nil) }
        let isShown = (node.isKnown || node.isExpected) && filter.matches(node)
        let (old, new) = (counted[position], isShown ? node : nil)
        guard old != new else { return false }
        if let old { count(old, -1) }
        if let new {
            count(new, 1)
            widestName = max(widestName, TextWidth.columns(new.key.name))
        }
        counted[position] = new
        return true
    }

    private mutating func count(_ node: NodeStatus, _ sign: Int) {
        totals.add(node, sign)
        sizes[place.name(of: node), default: 0] += sign
        if let grouping { totalsByGroup[grouping.name(of: node), default: .init()].add(node, sign) }
    }

    private var place: FleetGrouping { grouping?.place ?? .group }

    /// Puts machines into their new places: they are sorted, and merged with the others, which are in order.
    private mutating func sort(_ moved: Set<Int>) {
        let others = order.filter { !moved.contains($0) }
        let sorted = moved.filter { counted[$0] != nil }.sorted(by: isWorse)
        order = []
        order.reserveCapacity(others.count + sorted.count)
        var rest = sorted[...]
        for position in others {
            while let next = rest.first, isWorse(next, position) { order.append(rest.removeFirst()) }
            order.append(position)
        }
        order += rest
    }

    private func isWorse(_ left: Int, _ right: Int) -> Bool {
        guard let left = counted[left], let right = counted[right] else { return false }
        let (first, second) = (left.rank, right.rank)
        return first == second ? left.key < right.key : first < second
    }

    private mutating func describeGroups() {
        totalsByGroup = totalsByGroup.filter { $0.value.nodes > 0 }
        groups = totalsByGroup.map { ($0.key, $0.value) }.sorted { left, right in
            let (first, second) = (left.totals.rank, right.totals.rank)
            return first == second ? left.name < right.name : first < second
        }
        bursts = describedBursts
    }

    /// Silent machines are the first in the order.
    private var describedBursts: [FleetBurst] {
        var starts: [String: [Int64]] = [:]
        for position in order {
            guard let node = counted[position], node.presence == .silent, let silence = node.silence else { break }
            starts[place.name(of: node), default: []].append(silence.start.nanosecondsSinceEpoch)
        }
        return starts.compactMap { FleetBurst($0.value, of: $0.key, all: sizes[$0.key] ?? 0) }
            .sorted { ($1.start, $0.name) < ($0.start, $1.name) }
    }
}

extension NodeStatus {
    /// How bad the condition is: first by kind, then by availability, then by outages.
    fileprivate var rank: (Int, Int, Int) { (severity, availability ?? 10_001, -outages) }

    private var severity: Int {
        switch (presence, state) {
        case (.silent, _): 0
        case (.online, .notReachable): 1
        case (.unknown, _): 2
        case _ where isLimited: 3
        case _ where isFlapping: 4
        case (_, .unknown): 5
        case _ where backlog > 0: 6
        case (_, .cellular): 7
        case (_, .wifi): 8
        default: 9
        }
    }
}

extension FleetTotals {
    /// How bad the conditions are: first by the number of machines that are not reachable, then by the availability.
    fileprivate var rank: (Int, Int) { (reachable - nodes, availability ?? 10_001) }
}
