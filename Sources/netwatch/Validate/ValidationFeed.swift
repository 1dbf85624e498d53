import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore
import Synchronization

/// The reports about the path, while a command runs with `--validate`.
final class ValidationFeed: Sendable {
    private let state: State
    private let watch: ValidationWatch

    /// Starts to follow the reports.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of `netwatch-validate`.
    ///   - session: The monitor; it has blocked the signals that the main thread waits for.
    ///   - sink: Called on a thread of its own with each report, and with nil while there is none.
    /// - Throws: The error to show if the executable is missing.
    convenience init(
        _ arguments: [String],
        _ session: MonitorSession,
        sink: @escaping @Sendable (ValidationSummary?) -> Void
    ) throws(ToolError) {
        try self.init(arguments, mask: session.inheritedMask, wakeup: session.wakeup, sink: sink)
    }

    /// Starts to follow the reports.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of `netwatch-validate`.
    ///   - mask: The blocked signals that it starts with; nil for those of the calling thread.
    ///   - wakeup: Told if validation has failed.
    ///   - sink: Called on a thread of its own with each report, and with nil while there is none.
    /// - Throws: The error to show if the executable is missing.
    init(
        _ arguments: [String],
        mask: sigset_t?,
        wakeup: Wakeup,
        sink: @escaping @Sendable (ValidationSummary?) -> Void
    ) throws(ToolError) {
        let state = State()
        self.state = state
        watch = try ValidationWatch(arguments, mask: mask) { update in
            switch update {
            case .report(let report):
                state.report.withLock { $0 = report }
                sink(report)
            case .failed(let error):
                state.failure.withLock { $0 = error }
                wakeup.signal()
            }
        }
    }

    /// The newest report.
    var report: ValidationSummary? { state.report.withLock { $0 } }

    /// Why there will be no report.
    var failure: ToolError? { state.failure.withLock { $0 } }

    /// Throws why there will be no report, if that is so.
    func check() throws(ToolError) {
        if let failure { throw failure }
    }

    private final class State: Sendable {
        let report = Mutex<ValidationSummary?>(nil)
        let failure = Mutex<ToolError?>(nil)
    }
}

/// Passes on the changes of the path and of the verdict on it, one at a time: they come from two threads.
final class ValidatedChanges: Sendable {
    private let tracker = Mutex(ValidationTracker())
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
