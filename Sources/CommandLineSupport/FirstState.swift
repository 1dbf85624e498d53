import Locking
package import ReachabilityCore

/// Keeps the first change with a known state; until then, the newest without one.
package final class FirstState: Sendable {
    private let kept = Lock<ReachabilityChange?>(nil)

    /// Creates an object that keeps nothing yet.
    package init() {}

    /// The change, if there was one.
    package var change: ReachabilityChange? { kept.withLock { $0 } }

    /// Takes a change; true if it is the one to print.
    package func take(_ change: ReachabilityChange) -> Bool {
        kept.withLock { kept in
            guard kept == nil || kept?.status == .unknown else { return false }
            kept = change
            return change.status != .unknown || change.event == .error
        }
    }
}

extension ReachabilityChange {
    /// The change that is printed if the kernel does not respond.
    package static let unread = Self(
        event: .state,
        status: .unknown,
        previous: nil,
        path: .init(status: .unknown),
        reasons: [.reading],
        sequence: 1
    )
}
