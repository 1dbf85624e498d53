import Locking
import ReachabilityCore
import Synchronization

/// Hands each notice of a monitor to all its subscribers, and keeps the newest for those who ask or come late.
///
/// The list of subscribers is a copy-on-write array: publishing takes a reference to it under the lock and calls
/// everybody after the lock, so that a publication allocates nothing and no subscriber is ever called under a lock.
final class Broadcaster: Sendable {
    private typealias Subscriber = Receiver<StateChange>

    private struct State {
        var latest: StateChange?
        /// Counts publications; orders what one thread brings behind what another brought before.
        var ticket: UInt64 = 0
        /// Those who are called on the event thread; they come first, and wait for no one's hand-over.
        var immediate: [Subscriber] = []
        var deferred: [Subscriber] = []
    }

    private let state = Lock(State())
    private let statusValue = Atomic<Int8>(ReachabilityStatus.unknown.rawValue)

    /// The newest notice's status; lock-free.
    var status: ReachabilityStatus {
        .init(rawValue: statusValue.load(ordering: .acquiring)) ?? .unknown
    }

    /// The newest notice; nil before the first.
    var latest: StateChange? { state.withLock { $0.latest } }

    /// How many subscribers there are.
    var subscriberCount: Int { state.withLock { $0.immediate.count + $0.deferred.count } }

    /// Tells everybody, and returns when those who are called on this thread were called.
    func publish(_ change: StateChange) {
        let (ticket, immediate, deferred) = state.withLock { state in
            statusValue.store(change.status.rawValue, ordering: .releasing)
            state.latest = change
            state.ticket += 1
            return (state.ticket, state.immediate, state.deferred)
        }
        for subscriber in immediate { subscriber.offer(change, ticket: ticket) }
        for subscriber in deferred { subscriber.offer(change, ticket: ticket) }
    }

    /// Adds a subscriber, who is told the newest notice first, if there is one that says something.
    ///
    /// Both happen in one step, so that no publication is lost or told twice between them.
    ///
    /// - Parameters:
    ///   - subscriber: Whom to tell.
    ///   - onEventThread: Runs a job on the thread that publishes, and says whether there is one.
    func add(
        _ subscriber: Receiver<StateChange>,
        onEventThread: (@escaping @Sendable () -> Void) -> Bool
    ) {
        let isPrimed = state.withLock { state in
            switch subscriber.place {
            case .eventThread: state.immediate.append(subscriber)
            case .anyThread, .helperThread, .elsewhere: state.deferred.append(subscriber)
            }
            guard let latest = state.latest, !latest.isNotStarted else { return false }
            subscriber.prime(latest, ticket: state.ticket)
            return true
        }
        if isPrimed { subscriber.start(onEventThread) }
    }

    /// Removes a subscriber; a publication under way may still offer it a notice.
    func remove(_ subscriber: Receiver<StateChange>) {
        // What is removed is handed out of the lock: releasing it may run a subscriber's own code.
        let removed = state.withLock { state in
            Self.remove(subscriber, from: &state.immediate) ?? Self.remove(subscriber, from: &state.deferred)
        }
        withExtendedLifetime(removed) {}
    }

    private static func remove(_ subscriber: Subscriber, from list: inout [Subscriber]) -> Subscriber? {
        guard let position = list.firstIndex(where: { $0 === subscriber }) else { return nil }
        return list.remove(at: position)
    }
}

extension StateChange {
    /// Whether this is the notice with which a run of the monitor ends; the next run begins with a baseline.
    var isNotStarted: Bool { status == .unknown && path.reasons.contains(.notStarted) }

    /// The notice of a monitor that could not be started.
    static func unknown(for reason: Reason) -> Self {
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
