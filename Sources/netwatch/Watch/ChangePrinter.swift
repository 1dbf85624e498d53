import ReachabilityCore
import Synchronization

/// Prints notices on stdout as they come, on the event thread, until that fails or is closed.
final class ChangePrinter: Sendable {
    private let format: ChangeFormat
    private let state = Mutex(State.open)

    private enum State {
        case open
        case closed
        case failed(OutputFailure)
    }

    init(_ format: ChangeFormat) { self.format = format }

    /// Why nothing is printed any more, if that is why.
    var failure: OutputFailure? {
        state.withLock { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    /// Prints nothing any more: what the monitor says when it is stopped is no news of the network.
    func close() {
        state.withLock { if case .open = $0 { $0 = .closed } }
    }

    /// Prints a notice; false if that failed, now or before.
    func print(_ change: StateChange) -> Bool {
        switch state.withLock({ $0 }) {
        case .open: return write(format.line(change, at: SystemClock.wall))
        case .closed: return true
        case .failed: return false
        }
    }

    private func write(_ line: [UInt8]) -> Bool {
        do throws(OutputFailure) {
            try LineOutput.standard.write(line)
            return true
        } catch {
            state.withLock { $0 = .failed(error) }
            return false
        }
    }
}
