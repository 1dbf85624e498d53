import ArgumentParser
import CommandLineSupport
import LinuxSystem
import Reachability
import ReachabilityCore
import Synchronization

/// `netwatch status`: the current state and path, once.
struct StatusCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the current state and path once.",
        discussion: .guide(
            [
                .init("The state, the path and the reasons", "netwatch status"),
                .init("In a script: only with a way to the internet", "netwatch status >/dev/null && ./synchronize"),
                .init(
                    "The interface that the path goes through",
                    "netwatch status --json | jq -r '.path.interface.name'"
                ),
                .init("Take USB adapters for the modems that they are", "netwatch status --kind 'enx*=cellular'"),
            ],
            "Exits with 0 if the network is reachable, 1 if not, 2 if that is unknown."
        )
    )

    @Flag(help: "Print a JSON object, which also tells how each interface's kind is known.")
    var json = false

    @OptionGroup var form: FormatOptions

    @OptionGroup var common: CommonOptions

    /// What the options ask for.
    var query: StateQuery {
        .init(format: form.format(or: json ? .detailedJSON : .text), configuration: common.configuration)
    }

    func validate() throws { try form.check(besideJSON: json) }

    func execute() throws(ToolError) -> ExitStatus { try query.run() }
}

/// Prints the current state once.
struct StateQuery {
    /// How to print.
    var format: ChangeFormat
    /// What to ask about.
    var configuration: MonitorConfiguration

    /// Asks; the status says whether the network is reachable.
    func run() throws(ToolError) -> ExitStatus {
        let first = FirstState()
        let wakeup = try Wakeup.open()
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
        let details = try? session.monitor.wifiDetails(within: .seconds(1))
        return (details ?? []).filter { path.carriers.contains($0.interface) }
    }
}

/// Keeps the first notice that tells a state; until then, the newest that does not.
final class FirstState: Sendable {
    private let kept = Mutex<StateChange?>(nil)

    /// The notice, if one came.
    var notice: StateChange? { kept.withLock { $0 } }

    /// Takes a notice; true if it is the one to tell.
    func take(_ change: StateChange) -> Bool {
        kept.withLock { kept in
            guard kept == nil || kept?.status == .unknown else { return false }
            kept = change
            return change.status != .unknown || change.event == .error
        }
    }
}

extension StateChange {
    /// What is told where the kernel does not answer at all.
    static let unread = Self(
        event: .state,
        status: .unknown,
        previous: nil,
        path: .init(status: .unknown),
        reasons: [.reading],
        sequence: 1
    )
}
