import EventCore

/// The service of a story: its runs, the log of the present one, and a journal that stores events late, loses them when it
/// fails or the service is killed, and removes old ones.
struct StoryService {
    /// A run, as it really was.
    struct Run {
        let id: UInt64
        var published: UInt64 = 0
        var wasKilled = false
        /// The numbers of events that can never be read again.
        var unreadable: Set<UInt64> = []
        var removed: UInt64 = 0
    }

    private(set) var log: EventLog<UInt64>
    private(set) var runs: [Run]
    let hasJournal: Bool
    private var stored: [(ordinal: Int, sequence: UInt64)] = []
    private var waiting: [UInt64] = []

    init(run: UInt64, capacity: Int, hasJournal: Bool) {
        log = .init(run: run, capacity: capacity)
        runs = [.init(id: run)]
        self.hasJournal = hasJournal
    }

    /// The content of an event, which no other one has.
    static func content(_ id: EventID) -> UInt64 { id.run &* 0x9E37_79B9_7F4A_7C15 &+ id.sequence }

    mutating func publish() {
        let id = log.id(log.newest + 1)
        log.append(Self.content(id))
        runs[runs.count - 1].published = id.sequence
        waiting.append(id.sequence)
    }

    /// Whether events are not stored yet.
    var hasWaiting: Bool { !waiting.isEmpty }

    /// Stores the oldest of the events that wait.
    mutating func store(_ count: Int) {
        for sequence in waiting.prefix(count) { stored.append((runs.count - 1, sequence)) }
        waiting.removeFirst(min(count, waiting.count))
    }

    /// Loses the oldest of the events that wait, as on a full disk.
    mutating func lose(_ count: Int) {
        runs[runs.count - 1].unreadable.formUnion(waiting.prefix(count))
        waiting.removeFirst(min(count, waiting.count))
    }

    /// Removes the oldest events of the journal.
    mutating func remove(_ count: Int) {
        for event in stored.prefix(count) { runs[event.ordinal].removed = event.sequence }
        stored.removeFirst(min(count, stored.count))
    }

    /// Begins the next run.
    mutating func restart(run: UInt64, isKilled: Bool) {
        if isKilled { lose(.max) } else { store(.max) }
        runs[runs.count - 1].wasKilled = isKilled
        if !isKilled, log.newest == 0 { runs.removeLast() }
        log = .init(run: run, capacity: log.capacity)
        runs.append(.init(id: run))
    }

    func page(after id: EventID, limit: Int) -> JournalPage<UInt64> {
        let rows = runs.enumerated().map { index, run in
            let isPresent = index == runs.count - 1
            return JournalRun(
                ordinal: Int64(index),
                run: run.id,
                last: isPresent || run.wasKilled ? nil : run.published,
                removed: run.removed
            )
        }
        return JournalOrder(rows).page(after: id) { ordinal, sequence in
            stored.lazy.filter { ($0.ordinal, $0.sequence) > (Int(ordinal), sequence) }.prefix(limit).map { event in
                let id = EventID(run: runs[event.ordinal].id, sequence: event.sequence)
                return .init(ordinal: Int64(event.ordinal), sequence: id.sequence, event: Self.content(id))
            }
        }
    }

    // MARK: The truth

    private func ordinal(of run: UInt64) -> Int? { runs.firstIndex { $0.id == run } }

    /// The event that really followed one; nil if there is none yet, or it has no place in the order.
    func successor(of id: EventID) -> EventID? {
        guard let ordinal = ordinal(of: id.run) else { return nil }
        if id.sequence < runs[ordinal].published { return .init(run: id.run, sequence: id.sequence + 1) }
        let next = runs[(ordinal + 1)...].first { $0.published > 0 }
        return next.map { .init(run: $0.id, sequence: 1) }
    }

    func isOrdered(_ first: EventID, before second: EventID) -> Bool {
        guard let left = ordinal(of: first.run), let right = ordinal(of: second.run) else { return false }
        return (left, first.sequence) < (right, second.sequence)
    }

    /// Whether a gap from an event on is true: something after it may be missing for this reason.
    func isTrue(_ gap: EventGap, upTo end: EventID) -> Bool {
        guard let from = gap.from else { return false }
        let first = ordinal(of: from.run)
        switch gap.reason {
        case .slow: return !hasJournal && from.run == log.run && from.sequence + 1 < log.oldest
        case .unknown: return hasJournal ? first == nil : from.run != log.run
        case .expired where !hasJournal: return from.run == log.run
        case .expired:
            guard let first else { return false }
            return runs[first].removed > from.sequence || runs[(first + 1)...].contains { $0.removed > 0 }
        case .lost:
            guard hasJournal, let first, let last = ordinal(of: end.run) else { return false }
            let losses = runs[first...last]
            return losses.contains { !$0.unreadable.isEmpty || $0.wasKilled }
        }
    }
}
