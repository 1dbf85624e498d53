import CommandLineSupport
import Glibc
import ReachabilityCore

/// Holds a command back until the network is there.
struct RunGate {
    /// The monitor, and the main thread's wait.
    let session: MonitorSession
    /// What the monitor tells.
    let network: ConditionWatcher
    /// How long to wait for the network.
    let waiting: WaitOptions

    /// Waits for the network, and for the end of the rest between two runs, on which no limit lies.
    ///
    /// - Parameter earliest: The end of the rest.
    /// - Returns: A status if a signal ends the tool instead.
    /// - Throws: What to tell the user when the time is up, with what there is instead.
    func wait(notBefore earliest: Instant?) throws(ToolError) -> ExitStatus? {
        let deadline = waiting.timeout.map(SystemClock.now.advanced)
        while true {
            let isRested = earliest.map { SystemClock.now >= $0 } ?? true
            if network.holds, isRested { return nil }
            switch try session.next(until: network.holds ? earliest : deadline) {
            case .deadline where !network.holds: throw timeUp
            case .signal(let signal) where CommandSupervisor.ending.contains(signal.number):
                return .endedBySignal(signal.number)
            case .signal(let signal) where signal.number == SIGTSTP: SignalActions.stopUntilContinued()
            case .deadline, .signal, .wakeup, .outputClosed: continue
            }
        }
    }

    private var timeUp: ToolError {
        guard let path = network.path else {
            return waiting.timeUp("the state is not known yet", waitedFor: network.awaited.words)
        }
        let reasons = path.reasons.isEmpty ? "" : ": \(path.reasons.map(\.rawValue).joined(separator: ", "))"
        let state = "the state is '\(path.status.name)': \(ChangeText.path(path))\(reasons)"
        return waiting.timeUp(state, waitedFor: network.awaited.words)
    }
}
