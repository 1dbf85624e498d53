import ArgumentParser
import Glibc
import Reachability
import ReachabilityCore

/// `netwatch watch`: a line for the current state, then one for each change.
struct WatchCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state, then a line for each change, until interrupted.",
        discussion: "Exits with 0 on SIGINT, on SIGTERM, and when nobody reads its output any more."
    )

    @Flag(help: "Print JSON lines.")
    var json = false

    @OptionGroup var common: CommonOptions

    func execute() throws(ToolError) -> ExitStatus {
        let printer = ChangePrinter(json ? .json : .text)
        let wakeup = try Wakeup()
        let session = try MonitorSession(
            common.configuration,
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
