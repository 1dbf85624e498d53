import Glibc
import Reachability
import ReachabilityCore

/// Prints the current state, then a line for each change, until a signal comes or nobody reads any more.
struct StateWatch {
    /// How to print.
    var format: ChangeFormat
    /// What to watch.
    var configuration: MonitorConfiguration

    /// Watches.
    func run() throws(ToolError) -> ExitStatus {
        let printer = ChangePrinter(format)
        let wakeup = try Wakeup()
        let session = try MonitorSession(
            configuration,
            wakeup: wakeup,
            signals: [SIGINT, SIGTERM],
            output: STDOUT_FILENO
        ) { change in
            if !printer.print(change) { wakeup.signal() }
        }
        _ = try session.next()
        printer.close()
        try session.stop()
        return try printer.failure?.end(writing: "stdout") ?? .success
    }
}
