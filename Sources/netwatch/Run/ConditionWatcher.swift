import ReachabilityCore
import Synchronization

/// Shares a ``ConnectivityRecord`` between the event thread, which writes it, and the main thread.
final class ConditionWatcher: Sendable {
    private let record: Mutex<ConnectivityRecord>

    init(_ condition: StateArgument) { record = .init(.init(condition)) }

    /// Whether it holds now.
    var holds: Bool { record.withLock { $0.holds } }

    /// Whether it did not hold at some time since ``forgetAbsence()``.
    var wasAway: Bool { record.withLock { $0.wasAway } }

    /// Takes the state as it is now; true if the condition holds.
    @discardableResult
    func note(_ status: ReachabilityStatus) -> Bool {
        record.withLock { record in
            record.note(status)
            return record.holds
        }
    }

    /// Begins a new time to watch.
    func forgetAbsence() {
        record.withLock { $0.forgetAbsence() }
    }
}
