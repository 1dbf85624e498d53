import ReachabilityCore
import Synchronization

/// Prints notices on stdout as they come, on the event thread, until that fails.
final class ChangePrinter: Sendable {
    private let format: ChangeFormat
    private let failed = Mutex<OutputFailure?>(nil)

    init(_ format: ChangeFormat) { self.format = format }

    /// Why nothing is printed any more.
    var failure: OutputFailure? { failed.withLock { $0 } }

    /// Prints a notice; false if that failed, now or before.
    func print(_ change: StateChange) -> Bool {
        guard failure == nil else { return false }
        do throws(OutputFailure) {
            try LineOutput.standard.write(format.line(change, at: SystemClock.wall))
            return true
        } catch {
            failed.withLock { $0 = error }
            return false
        }
    }
}
