import CommandLineSupport
import Glibc
import Reachability
import ReachabilityCore

/// Prints the current state, then a line for each change, until a signal comes or nobody reads any more.
struct StateWatch {
    /// How to print.
    var format: ChangeFormat
    /// What to watch.
    var configuration: MonitorConfiguration
    /// What to run at each change.
    var hook: Hook?

    /// Watches.
    func run() throws(ToolError) -> ExitStatus {
        let printer = ChangePrinter(format)
        let report = ServiceReport(.take())
        let inbox = hook == nil ? nil : HookInbox()
        // A child's end must be told, whatever this process was started with.
        if hook != nil { signal(SIGCHLD, SIG_DFL) }
        let wakeup = try Wakeup()
        let session = try MonitorSession(
            configuration,
            wakeup: wakeup,
            signals: [SIGINT, SIGTERM] + (hook == nil ? [] : [SIGCHLD]),
            output: STDOUT_FILENO
        ) { change in
            let time = SystemClock.wall
            inbox?.put(change, at: time)
            let isPrinted = printer.print(change, at: time)
            if isPrinted { report.tell(change) }
            if !isPrinted || inbox != nil { wakeup.signal() }
        }
        if let hook, let inbox {
            try HookWatch(session: session, printer: printer, inbox: inbox, report: report).run(hook)
        }
        while hook == nil, try session.next(until: report.nextSign(after: SystemClock.now)) == .deadline {
            _ = session.engine.perform { report.giveSign() }
        }
        if hook == nil { report.end() }
        printer.close()
        try session.stop()
        return try printer.failure?.end(writing: "stdout") ?? .success
    }
}
