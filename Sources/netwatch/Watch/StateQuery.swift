import CommandLineSupport
import Reachability
import ReachabilityCore

/// Prints the current state once.
struct StateQuery {
    /// How to print.
    var format: ChangeFormat
    /// What to ask about.
    var configuration: MonitorConfiguration

    /// Asks; the status says whether the network is reachable.
    func run() throws(ToolError) -> ExitStatus {
        let first = FirstState()
        let wakeup = try Wakeup()
        let session = try MonitorSession(configuration, wakeup: wakeup) { change in
            if first.take(change) { wakeup.signal() }
        }
        // Microseconds, normally; a kernel that does not answer at all must not hang a script.
        _ = try session.next(until: SystemClock.now.advanced(by: .seconds(10)))
        var change = first.notice ?? .unread
        change.path.wifi = wifiDetails(of: change.path, session)
        return try StandardOutput.write(
            format.line(change, at: SystemClock.wall),
            thenExit: ExitStatus(of: change.status)
        )
    }

    /// What the radios tell, where the path leads through any; nothing is worth a long wait, or an error.
    private func wifiDetails(of path: NetworkPath, _ session: MonitorSession) -> [WiFiDetails] {
        guard path.carriers.contains(where: { $0.kind == .wifi }) else { return [] }
        let details = try? session.engine.wifiDetails(within: .seconds(1))
        return (details ?? []).filter { path.carriers.contains($0.interface) }
    }
}
