import EventCore
import Locking
import ReachabilityCore

/// The events and counters that are not stored yet.
final class JournalQueue: Sendable {
    /// When the next job is due after an event was queued.
    enum Due {
        /// Immediately: the state changed.
        case now
        /// After the interval.
        case later
        /// A job that has been queued stores it, too.
        case queued
    }

    /// The contents of one job.
    struct Batch: Sendable {
        var events: [StoredEvent] = []
        var totals: EventTotals?
        var moment: EventMetrics.Moment?
        /// The number of the newest event of the run.
        var newest: UInt64 = 0
    }

    private struct State {
        var waiting = Batch()
        /// The number of events at the beginning of those that wait which are being stored.
        var storing = 0
        var isFlushQueued = false
        var isLaterQueued = false
        var status: ReachabilityStatus?
        var health = JournalHealth()
    }

    private let state = Lock(State())
    /// The number of events from which they are stored immediately.
    private static let urgentCount = 256
    /// The number of events that wait for a journal which cannot be written.
    private let capacity = 1024

    /// Whether events are stored.
    var health: JournalHealth { state.withLock { $0.health } }

    /// Whether events wait to be stored by a journal that can be written.
    var hasWaiting: Bool { state.withLock { !$0.waiting.events.isEmpty && $0.health.isStoring } }

    /// Queues an event.
    func append(_ event: StoredEvent) -> Due {
        state.withLock { state in
            if state.waiting.events.count - state.storing >= capacity {
                state.waiting.events.remove(at: state.storing)
                state.health.lost += 1
            }
            state.waiting.events.append(event)
            state.waiting.newest = event.sequence
            Self.take(event.totals, event.moment, &state)
            let hasChanged = event.change.status != state.status
            state.status = event.change.status
            return Self.due(hasChanged, &state)
        }
    }

    /// Queues counters.
    ///
    /// - Returns: Whether a job is to be queued.
    func save(_ totals: EventTotals, at moment: EventMetrics.Moment) -> Bool {
        state.withLock { state in
            Self.take(totals, moment, &state)
            guard !state.isFlushQueued else { return false }
            state.isFlushQueued = true
            return true
        }
    }

    /// A journal that fails is tried again at intervals.
    private static func due(_ hasChanged: Bool, _ state: inout State) -> Due {
        if state.isFlushQueued { return .queued }
        // Many events wait no longer, so that the log does not go past those that are not stored.
        let isUrgent = hasChanged || state.waiting.events.count - state.storing >= Self.urgentCount
        if isUrgent, state.health.isStoring {
            state.isFlushQueued = true
            return .now
        }
        if state.isLaterQueued { return .queued }
        state.isLaterQueued = true
        return .later
    }

    private static func take(_ totals: EventTotals, _ moment: EventMetrics.Moment, _ state: inout State) {
        state.waiting.totals = totals
        state.waiting.moment = moment
    }

    /// Returns what is to be stored; it stays queued until that has succeeded.
    func batch() -> Batch {
        state.withLock { state in
            state.isFlushQueued = false
            state.isLaterQueued = false
            state.storing = state.waiting.events.count
            return state.waiting
        }
    }

    /// Notes that a batch was stored.
    ///
    /// - Returns: Whether an earlier one was not.
    func hasStored(_ batch: Batch) -> Bool {
        state.withLock { state in
            state.waiting.events.removeFirst(batch.events.count)
            state.storing = 0
            defer { state.health.isStoring = true }
            return !state.health.isStoring
        }
    }

    /// Notes that a batch that could not be stored is to be tried again.
    ///
    /// - Returns: Whether a job is to be queued after the interval.
    func retry() -> Bool {
        state.withLock { state in
            guard !state.isFlushQueued, !state.isLaterQueued else { return false }
            state.isLaterQueued = true
            return true
        }
    }

    /// Notes that the journal cannot be written or read; the oldest events that are too many are lost.
    ///
    /// - Returns: Whether it could before.
    func hasFailed() -> Bool {
        state.withLock { state in
            state.storing = 0
            // Those that were being stored did not count until now.
            let excess = max(state.waiting.events.count - capacity, 0)
            state.waiting.events.removeFirst(excess)
            state.health.lost += UInt64(excess)
            defer { state.health.isStoring = false }
            return state.health.isStoring
        }
    }
}
