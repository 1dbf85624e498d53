import ReachabilityCore
import Synchronization

/// Shares a ``ConnectivityRecord`` between the event thread, which writes it, and the main thread.
final class ConditionWatcher: Sendable {
    private let record: Mutex<ConnectivityRecord>

    init(_ awaited: WaitedPath) { record = .init(.init(awaited)) }

    /// What is waited for.
    var awaited: WaitedPath { record.withLock { $0.awaited } }

    /// What there is, once that is told.
    var path: NetworkPath? { record.withLock { $0.path } }

    /// Whether it holds now.
    var holds: Bool { record.withLock { $0.holds } }

    /// Whether it did not hold at some time since ``forgetAbsence()``.
    var wasAway: Bool { record.withLock { $0.wasAway } }

    /// Takes the state as it is now; true if the condition holds.
    @discardableResult
    func note(_ path: NetworkPath) -> Bool {
        record.withLock { record in
            record.note(path)
            return record.holds
        }
    }

    /// Begins a new time to watch.
    func forgetAbsence() {
        record.withLock { $0.forgetAbsence() }
    }
}
