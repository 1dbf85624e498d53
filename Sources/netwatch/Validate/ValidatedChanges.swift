import Locking
import NetwatchCore
import ReachabilityCore

/// Passes on the changes of the path and of the verdict on it, one at a time: they come from two threads.
final class ValidatedChanges: Sendable {
    private let tracker = Lock(ValidationTracker())
    private let body: @Sendable (ValidatedChange) -> Void

    /// Creates an object without a path.
    ///
    /// - Parameter body: Called with each change.
    init(_ body: @escaping @Sendable (ValidatedChange) -> Void) { self.body = body }

    /// Takes a change of the path.
    func take(_ change: ReachabilityChange) {
        tracker.withLock { tracker in
            for told in tracker.take(change) { body(told) }
        }
    }

    /// Takes a report; nil if there is none any more.
    func take(_ report: ValidationSummary?) {
        tracker.withLock { tracker in
            if let told = tracker.take(report) { body(told) }
        }
    }
}
