import ArgumentParser
import Reachability
import ReachabilityCore

/// `netwatch status`: the current state and path, once.
struct StatusCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the current state and path once.",
        discussion: "Exits with 0 if the network is reachable, 1 if not, 2 if that is unknown."
    )

    @Flag(help: "Print a JSON object, which also tells how each interface's kind is known.")
    var json = false

    @OptionGroup var common: CommonOptions

    func execute() throws(ToolError) -> ExitStatus {
        let first = FirstState()
        let wakeup = try Wakeup()
        let session = try MonitorSession(common.configuration, wakeup: wakeup) { change in
            if first.take(change) { wakeup.signal() }
        }
        // Microseconds, normally; a kernel that does not answer at all must not hang a script.
        _ = try session.next(until: SystemClock.now.advanced(by: .seconds(10)))
        let change = first.notice ?? .unread
        let line = (json ? ChangeFormat.detailedJSON : .text).line(change, at: SystemClock.wall)
        return try StandardOutput.write(line, thenExit: ExitStatus(of: change.status))
    }
}
