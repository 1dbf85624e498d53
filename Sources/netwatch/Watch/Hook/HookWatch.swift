import CommandLineSupport
import Glibc
import Reachability
import ReachabilityCore

/// Runs a hook beside the printing of lines, until a signal comes or nobody reads any more.
///
/// A hook that runs then may use its time; a second signal ends it.
struct HookWatch {
    /// The monitor.
    let session: MonitorSession
    /// What prints its notices.
    let printer: ChangePrinter
    /// What brings them here.
    let inbox: HookInbox

    /// What is told to the service manager.
    let report: ServiceReport

    /// Runs the hook.
    func run(_ hook: Hook) throws(ToolError) {
        var runner = HookRunner(hook, mask: session.inheritedMask)
        var isEnding = false
        var sign = report.nextSign(after: SystemClock.now)
        while !(isEnding && runner.isIdle) {
            let deadline = [runner.deadline, sign].compactMap(\.self).min()
            let awakening = try session.next(until: deadline, watchesOutput: !isEnding)
            // Before a hook's end is noticed, so that the next is told the newest.
            if !isEnding, let (change, time) = inbox.take() { runner.post((change, time)) }
            if let due = sign, SystemClock.now >= due {
                _ = session.engine.perform { [report] in report.giveSign() }
                sign = report.nextSign(after: SystemClock.now)
            }
            switch awakening {
            case .signal(let signal) where signal.number == SIGCHLD: runner.reap()
            case .signal where isEnding: runner.endNow()
            case .wakeup where isEnding || printer.failure == nil: break
            case .deadline: runner.tick()
            case .signal, .outputClosed, .wakeup:
                isEnding = true
                runner.close()
                report.end()
                printer.close()
            }
        }
    }
}
