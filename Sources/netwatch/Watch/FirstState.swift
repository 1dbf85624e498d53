import ReachabilityCore
import Synchronization

/// Keeps the first notice that tells a state; until then, the newest that does not.
final class FirstState: Sendable {
    private let kept = Mutex<StateChange?>(nil)

    /// The notice, if one came.
    var notice: StateChange? { kept.withLock { $0 } }

    /// Takes a notice; true if it is the one to tell.
    func take(_ change: StateChange) -> Bool {
        kept.withLock { kept in
            guard kept == nil || kept?.status == .unknown else { return false }
            kept = change
            return change.status != .unknown || change.event == .error
        }
    }
}

extension StateChange {
    /// What is told where the kernel does not answer at all.
    static let unread = Self(
        event: .state,
        status: .unknown,
        previous: nil,
        path: .init(status: .unknown),
        reasons: [.reading],
        sequence: 1
    )
}
