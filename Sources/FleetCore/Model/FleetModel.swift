package import NetwatchCore

/// The state of a fleet's machines, from their messages.
///
/// The order in which events arrive does not matter, nor whether they arrive twice. All times are those of the reader's clock,
/// `CLOCK_REALTIME`.
package struct FleetModel: Sendable {
    package let limits: FleetLimits
    /// The latest time that was given, in nanoseconds since 1970.
    private(set) var now: Int64 = 0
    private(set) var records: [NodeRecord] = []
    private(set) var positions: [NodeKey: Int] = [:]
    /// Texts that many events have, each stored once.
    private var reasons: [[String]: [String]] = [:]
    /// The machines whose condition is to be computed again, in order of their messages.
    private var stale: [Int] = []
    private var isStale: [Bool] = []
    private var changes = ChangeList()
    private var deadlines = DeadlineQueue()
    /// The next machine whose availability is computed again, and the time of the last one.
    private var refreshed: (next: Int, time: Int64) = (0, 0)

    /// Creates a model of a fleet of which nothing is known.
    package init(limits: FleetLimits = .init()) { self.limits = limits }

    /// The number of machines, those included that only the inventory has.
    package var count: Int { records.count }

    /// Takes a message.
    ///
    /// Events that were stored earlier are given in the same way, at the start and in the order in which they arrived.
    package mutating func apply(_ report: NodeReport, _ delivery: Delivery) -> FleetUpdate {
        now = max(now, delivery.time.nanosecondsSinceEpoch)
        if report.content == .removed, positions[report.key] == nil { return .outdated }
        guard let position = position(of: report.key) else { return .refused }
        let update = records[position].apply(sharing(report), delivery, capacity: capacity)
        markStale(position)
        return update
    }

    /// Adds machines that are expected to report.
    ///
    /// Labels that they send themselves take precedence.
    package mutating func expect(_ inventory: FleetInventory) {
        for entry in inventory.entries {
            guard let position = position(of: entry.key) else { return }
            records[position].expect(labels: entry.labels)
            markStale(position)
        }
    }

    /// Time has passed: silences begin after the grace time, flapping ends, availabilities are computed again, in turn and each
    /// at least once a minute.
    package mutating func advance(to moment: Timestamp) {
        now = max(now, moment.nanosecondsSinceEpoch)
        while let position = deadlines.popFirst(notAfter: now) { markStale(position) }
        let elapsed = min(now - refreshed.time, Span.minute)
        let number = Int(Int64(records.count) * elapsed / Span.minute)
        guard number > 0 else { return settle() }
        for _ in 0..<number {
            refreshed.next = (refreshed.next + 1) % records.count
            markStale(refreshed.next)
        }
        refreshed.time = now
        settle()
    }

    /// When ``advance(to:)`` is to be called at the latest; nil if nothing changes by time alone.
    package var nextChange: Timestamp? { deadlines.first.map { .init(nanosecondsSinceEpoch: $0) } }

    /// The condition of a machine, as of the last ``advance(to:)`` or update of a board; nil if there is none with the name.
    package func status(of key: NodeKey) -> NodeStatus? { positions[key].map { records[$0].status } }

    private var capacity: Int { max(min(limits.changes / max(records.count, 1), limits.changesOfNode), 64) }

    private mutating func position(of key: NodeKey) -> Int? {
        if let position = positions[key] { return position }
        guard records.count < limits.nodes else { return nil }
        positions[key] = records.count
        records.append(.init(key))
        isStale.append(false)
        return records.count - 1
    }

    private mutating func markStale(_ position: Int) {
        guard !isStale[position] else { return }
        isStale[position] = true
        stale.append(position)
    }

    /// Returns a report whose reasons are stored only once, however many events have them.
    private mutating func sharing(_ report: NodeReport) -> NodeReport {
        switch report.content {
        case .event(var event):
            event.reasons = shared(event.reasons)
            return .init(key: report.key, content: .event(event))
        case .state(var event):
            event.reasons = shared(event.reasons)
            return .init(key: report.key, content: .state(event))
        case .link, .gap, .removed: return report
        }
    }

    private mutating func shared(_ list: [String]) -> [String] {
        if let known = reasons[list] { return known }
        guard reasons.count < Self.maximumReasons else { return list }
        reasons[list] = list
        return list
    }

    private static let maximumReasons = 1_024
}

// MARK: For boards

extension FleetModel {
    /// Computes the conditions of the machines of which there are new messages.
    mutating func settle() {
        let grace = Int64(limits.grace / .nanoseconds(1))
        for position in stale {
            isStale[position] = false
            let deadline = records[position].nextChange
            if records[position].settle(at: now, grace: grace, capacity: capacity) { changes.append(position) }
            if let next = records[position].nextChange, next != deadline { deadlines.insert(next, position) }
        }
        stale.removeAll(keepingCapacity: true)
        changes.trim(to: max(2 * records.count, 1_024))
    }

    /// The condition of the machine at a position; positions are those of arrival.
    func status(at position: Int) -> NodeStatus { records[position].status }

    /// The number of changes so far.
    var changeCount: Int { changes.count }

    /// Returns the positions that have changed since there were a number of changes; nil if any may have.
    func changes(since count: Int) -> ArraySlice<Int>? { changes.since(count) }
}

/// The positions of the machines that changed last, in order.
private struct ChangeList: Sendable {
    private var positions: [Int] = []
    /// The number of those that were dropped.
    private var dropped = 0

    var count: Int { dropped + positions.count }

    mutating func append(_ position: Int) { positions.append(position) }

    /// Drops the oldest half, if there are more than a number.
    mutating func trim(to limit: Int) {
        guard positions.count > limit else { return }
        let number = positions.count - limit / 2
        positions.removeFirst(number)
        dropped += number
    }

    func since(_ count: Int) -> ArraySlice<Int>? { count < dropped ? nil : positions[(count - dropped)...] }
}

/// The moments at which machines change by time alone, the first one first: a binary heap.
private struct DeadlineQueue: Sendable {
    private var entries: [(time: Int64, position: Int)] = []

    var first: Int64? { entries.first?.time }

    mutating func insert(_ time: Int64, _ position: Int) {
        var index = entries.count
        entries.append((time, position))
        while index > 0, case let parent = (index - 1) / 2, entries[parent].time > entries[index].time {
            entries.swapAt(index, parent)
            index = parent
        }
    }

    mutating func popFirst(notAfter moment: Int64) -> Int? {
        guard let first = entries.first, first.time <= moment else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first.position }
        entries[0] = last
        sink()
        return first.position
    }

    private mutating func sink() {
        var index = 0
        while case let left = 2 * index + 1, left < entries.count {
            let right = left + 1
            let child = right < entries.count && entries[right].time < entries[left].time ? right : left
            guard entries[child].time < entries[index].time else { return }
            entries.swapAt(index, child)
            index = child
        }
    }
}
