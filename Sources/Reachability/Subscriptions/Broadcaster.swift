import Locking
import ReachabilityCore
import Synchronization

/// Passes each change of a monitor to all its subscribers, and keeps the newest for those that subscribe later.
///
/// The list of subscribers is a copy-on-write array: publishing takes a reference to it under the lock and calls
/// the subscribers after the lock, so that a publication allocates nothing and no subscriber is ever called under a
/// lock.
final class Broadcaster: Sendable {
    private struct State {
        var latest: ReachabilityChange?
        /// The number of publications, which orders them if two threads publish.
        var ticket: UInt64 = 0
        /// The subscribers that are called on the event thread: first, as they wait for no other thread.
        var immediate: [Subscriber<ReachabilityChange>] = []
        var deferred: [Subscriber<ReachabilityChange>] = []
    }

    private let state = Lock(State())
    private let statusValue = Atomic<Int8>(ReachabilityStatus.unknown.rawValue)

    /// The newest change's status; lock-free.
    var status: ReachabilityStatus { .init(rawValue: statusValue.load(ordering: .acquiring)) ?? .unknown }

    /// The newest change; nil before the first.
    var latest: ReachabilityChange? { state.withLock { $0.latest } }

    /// The number of subscribers.
    var subscriberCount: Int { state.withLock { $0.immediate.count + $0.deferred.count } }

    /// Publishes a change, and returns when the subscribers that are called on this thread were called.
    func publish(_ change: ReachabilityChange) {
        var latest: ReachabilityChange? = change
        let (ticket, immediate, deferred) = state.withLock { state in
            statusValue.store(change.status.rawValue, ordering: .releasing)
            swap(&state.latest, &latest)
            state.ticket += 1
            return (state.ticket, state.immediate, state.deferred)
        }
        for subscriber in immediate { subscriber.offer(change, ticket: ticket) }
        for subscriber in deferred { subscriber.offer(change, ticket: ticket) }
        // The previous change is released outside the lock, after the subscribers were called.
        withExtendedLifetime(latest) {}
    }

    /// Adds a subscriber, which receives the newest change first, unless the monitor is not started.
    ///
    /// Both happen in one step, so that no publication is lost or received twice between them.
    ///
    /// - Parameters:
    ///   - subscriber: The subscriber.
    ///   - onEventThread: Runs a job on the thread that publishes, and returns whether there is one.
    func add(_ subscriber: Subscriber<ReachabilityChange>, onEventThread: (@escaping @Sendable () -> Void) -> Bool) {
        let isPrimed = state.withLock { state in
            switch subscriber.place {
            case .eventThread: state.immediate.append(subscriber)
            case .anyThread, .pool, .custom: state.deferred.append(subscriber)
            }
            guard let latest = state.latest, !latest.isNotStarted else { return false }
            subscriber.prime(latest, ticket: state.ticket)
            return true
        }
        if isPrimed { subscriber.start(onEventThread) }
    }

    /// Removes a subscriber; a publication under way may still offer it a change.
    func remove(_ subscriber: Subscriber<ReachabilityChange>) {
        // The subscriber is passed out of the lock: releasing it may run its own code.
        let removed = state.withLock { state in
            Self.remove(subscriber, from: &state.immediate) ?? Self.remove(subscriber, from: &state.deferred)
        }
        withExtendedLifetime(removed) {}
    }

    private static func remove(
        _ subscriber: Subscriber<ReachabilityChange>,
        from list: inout [Subscriber<ReachabilityChange>]
    ) -> Subscriber<ReachabilityChange>? {
        guard let position = list.firstIndex(where: { $0 === subscriber }) else { return nil }
        return list.remove(at: position)
    }
}

extension ReachabilityChange {
    /// Whether this is the change with which a run of the monitor ends; the next run begins with a baseline.
    var isNotStarted: Bool { status == .unknown && path.reasons.contains(.notStarted) }

    /// The change of a monitor that could not be started.
    static func unknown(for reason: ReachabilityReason) -> Self {
        .init(
            event: .state,
            status: .unknown,
            previous: nil,
            path: .init(status: .unknown, reasons: [reason]),
            reasons: [reason],
            sequence: 1
        )
    }
}
