import ArgumentParser
import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// `netwatch status`: the current state and path, once.
struct StatusCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the current status and path.",
        discussion: .guide(
            [
                .init("Print the status, the path and the reasons", "netwatch status"),
                .init("Run a command only if the network is reachable", "netwatch status >/dev/null && ./synchronize"),
                .init("Print the interface of the path", "netwatch status --json | jq -r '.path.interface.name'"),
                .init("Treat USB adapters as cellular modems", "netwatch status --kind 'enx*=cellular'"),
                .init("Ask a server, too", "netwatch status --validate http://status.example.com/204"),
            ],
            "Exit status: 0 reachable, 1 not reachable, 2 unknown, whatever a server of --validate answers."
        )
    )

    @Flag(help: "Print a JSON object, with the source of each interface's kind.")
    var json = false

    @OptionGroup var form: FormatOptions

    @OptionGroup(title: "Validation") var validation: ValidationOptions

    @OptionGroup var common: CommonOptions

    /// The query that the options configure.
    var query: StateQuery {
        .init(
            format: form.format(or: json ? .detailedJSON : .text),
            configuration: common.configuration,
            validation: validation.processArguments(common)
        )
    }

    func validate() throws { try form.check(besideJSON: json) }

    func execute() throws(ToolError) -> ExitStatus { try query.run() }
}

/// Prints the current state once.
struct StateQuery {
    /// How to print.
    var format: ChangeFormat
    /// The configuration of the monitor.
    var configuration: MonitorConfiguration
    /// The arguments of `netwatch-validate`; nil if validation is off.
    var validation: [String]?

    /// Asks; the status says whether the network is reachable.
    func run() throws(ToolError) -> ExitStatus {
        guard let validation else { return try write(try state) }
        let report = try Validator.query(validation)
        return try write(try state, report)
    }

    private var state: ReachabilityChange {
        get throws(ToolError) {
            if let change = egressState { return change }
            return try monitoredState()
        }
    }

    /// The time without a driver's reply about the egress interfaces after which a monitor is started.
    private static let egressTimeout = Duration.milliseconds(500)

    /// The state, read from the egress interfaces alone; nil if that does not suffice.
    ///
    /// The radio of a Wi-Fi carrier is asked by a monitor.
    private var egressState: ReachabilityChange? {
        guard let path = EgressQuery(configuration).path(within: Self.egressTimeout),
            !path.carriers.contains(where: { $0.kind == .wifi })
        else { return nil }
        return .init(
            event: .state,
            status: path.status,
            previous: nil,
            path: path,
            reasons: [.initial],
            sequence: 1
        )
    }

    /// Starts a monitor, and waits for its first state.
    private func monitoredState() throws(ToolError) -> ReachabilityChange {
        let first = FirstState()
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(configuration, wakeup: wakeup) { change in
            if first.take(change) { wakeup.signal() }
        }
        // Microseconds, normally; a kernel that does not reply at all must not hang a script.
        _ = try session.next(until: SystemClock.now.advanced(by: .seconds(10)))
        var change = first.change ?? .unread
        change.path.wifi = wifiDetails(of: change.path, session)
        return change
    }

    private func write(_ change: ReachabilityChange) throws(ToolError) -> ExitStatus {
        try StandardOutput.write(format.line(change, at: SystemClock.wall), thenExit: ExitStatus(of: change.status))
    }

    /// Prints the state with a report, if that is about the same path.
    private func write(_ change: ReachabilityChange, _ report: ValidationSummary?) throws(ToolError) -> ExitStatus {
        let current = report.flatMap { $0.isAbout(change.path) ? $0 : nil }
        var bytes = format.line(ValidatedChange(change: change, validation: current), at: SystemClock.wall)
        if format == .text { bytes += ("validation: " + words(current, change.path) + "\n").utf8 }
        return try StandardOutput.write(bytes, thenExit: ExitStatus(of: change.status))
    }

    private func words(_ report: ValidationSummary?, _ path: NetworkPath) -> String {
        if let report { return ValidationWords.line(report, path.status) }
        return path.status.isReachable ? "not checked: the path has just changed" : "not checked: there is no path"
    }

    /// Returns the Wi-Fi details of the path; none if they cannot be had soon.
    private func wifiDetails(of path: NetworkPath, _ session: MonitorSession) -> [WiFiDetails] {
        guard path.carriers.contains(where: { $0.kind == .wifi }) else { return [] }
        let details = try? session.monitor.wifiDetails(within: .seconds(1))
        return (details ?? []).filter { path.carriers.contains($0.interface) }
    }
}
