import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// `netwatch explain`: why the state is what it is, or which path packets to one host take.
struct ExplainCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain the status, or the route to a host.",
        discussion: .guide(
            [
                .init("List every candidate path, and what rules it out", "netwatch explain"),
                .init("Show the kernel's route to an address", "netwatch explain 192.0.2.7"),
                .init("Resolve a name, and show the route", "netwatch explain server.example --timeout 2s"),
                .init("Also find out how far packets come", "netwatch explain 192.0.2.7 --trace"),
                .init("Ask a server, too", "netwatch explain --validate http://status.example.com/204"),
            ],
            """
            Exit status: 0 the network, or any address of the host, is reachable; 1 not reachable; 2 unknown, such as \
            when the name cannot be resolved. With --trace, as 'netwatch trace': 0 only if the host answers.
            """
        )
    )

    @Argument(help: .init("An address, or a name to resolve.", valueName: "host"), transform: HostArgument.parse)
    var host: Host?

    @Option(
        parsing: .unconditional,
        help: .init("Stop waiting for the kernel or a name server after this (default: 5s).", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var timeout: Duration = .seconds(5)

    @Flag(help: "Also send packets to the host, and say how far they come.")
    var trace = false

    @OptionGroup(title: "Validation") var validation: ValidationOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if trace, host == nil { throw ValidationError("--trace needs a host; write 'netwatch explain HOST --trace'") }
    }

    func execute() throws(ToolError) -> ExitStatus {
        let report: ValidationSummary? =
            if let arguments = validation.processArguments(common) { try Validator.query(arguments) } else {
                nil
            }
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(common.configuration, wakeup: wakeup) { _ in wakeup.signal() }
        let addresses = try addresses(session)
        let view = try ToolError.wrapping(try session.monitor.view(within: timeout))
        if addresses.isEmpty {
            let context = common.kinds.context(user: geteuid())
            return try write(ViewText.lines(view, context, report), thenExit: .init(of: view.evaluation.path.status))
        }
        var paths: [DestinationPath] = []
        for address in addresses { paths.append(try ToolError.wrapping(try session.monitor.lookup(address))) }
        let names = InterfaceNames(snapshot: view.snapshot)
        let lines = paths.flatMap { DestinationText.lines($0, names: names) }
        let isReachable = paths.contains { $0.status.isReachable }
        let result = trace ? try traced(addresses, session) : nil
        return try write(
            lines + (result.map { ["  trace: " + $0.text] } ?? [])
                + ViewText.validation(report, of: view.evaluation.path),
            thenExit: result?.status ?? (isReachable ? .success : .notReachable)
        )
    }

    /// Traces the first address that has a route.
    private func traced(
        _ addresses: [IPAddress],
        _ session: MonitorSession
    ) throws(ToolError) -> (text: String, status: ExitStatus) {
        var destination = try TraceLookup(session: session, settings: .init()).destination(among: addresses)
        if case .name(let name) = host { destination.text.host = name }
        return try TraceReport(
            destination: destination,
            namespace: common.netns,
            deadline: SystemClock.now.advanced(by: TraceCommand.defaultTimeout),
            wakeup: session.wakeup
        )
        .sentence()
    }

    /// The host's addresses; none if no host was named.
    private func addresses(_ session: MonitorSession) throws(ToolError) -> [IPAddress] {
        guard let host else { return [] }
        let deadline = SystemClock.now.advanced(by: timeout)
        return try HostResolver.addresses(of: host, in: common.netns, during: session, until: deadline)
    }

    private func write(_ lines: [String], thenExit status: ExitStatus) throws(ToolError) -> ExitStatus {
        try StandardOutput.write(lines.map { $0 + "\n" }.joined(), thenExit: status)
    }
}
