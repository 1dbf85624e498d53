import ArgumentParser
import BrokerCommandLine
import CommandLineSupport
import FleetCore
import LinuxSystem
import MQTTClient
import MQTTCore
import NetwatchCore
import NetworkClient
import ReachabilityCore

/// `netwatch fleet`: shows the machines that report to an MQTT broker.
struct FleetCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: CommandSummary.fleet,
        discussion: .guide(
            [
                .init("Watch a fleet", "netwatch fleet mqtts://broker.example --user operator --password-file secret"),
                .init("Only what is wrong at one site", "netwatch fleet mqtts://broker.example --where 'group=site-3'"),
                .init("Check in a script", "netwatch fleet mqtts://broker.example --once --inventory machines.txt"),
                .init("Remember the last day over restarts", "netwatch fleet mqtts://broker.example --store fleet.db"),
                .init("Show it in a browser", "netwatch fleet mqtts://broker.example --listen 127.0.0.1:8788"),
            ],
            """
            Reads what 'netwatch forward' publishes: a live table on a terminal, the worst first; elsewhere a line for each \
            change. A machine is online, silent or unknown; once the events of a silence arrive, the table says whether the \
            machine had no path, had one but no broker, or was off. Availability and outages of 24 h come from the events.

            In the table, arrows and page keys scroll, enter marks a machine and shows it, / takes conditions, and q quits.

            A condition of --where is a field, an operator and a value, such as group=site-3, state!=wifi or \
            availability<99.9; 'and' joins them. Fields: group, node, link, state, why, path, validation, availability, outages, \
            backlog, lost, flapping, and label.NAME.

            Exit status: 0 after SIGINT, SIGTERM or a closed pipe; with --once 0 if all machines are reachable, 1 if some are \
            not, 2 if nothing or not everything is known; 64 usage, 65 a file can't be read as what it should be, 71 kernel \
            refusal, 74 write error, 77 permission.
            """
        )
    )

    @Argument(
        help: .init("The broker: mqtts://HOST[:8883], or mqtt://HOST[:1883] without TLS.", valueName: "url"),
        transform: BrokerURL.init(parsing:)
    )
    var broker: BrokerURL

    @OptionGroup(title: "Machines") var machines: FleetOptions

    @Flag(help: "Print JSON: a line for each change, or with --once for each machine and one for all.")
    var json = false

    @Flag(help: "Print the machines once, and exit.")
    var once = false

    @Option(
        parsing: .unconditional,
        help: .init("How long --once waits for the broker's messages.", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var timeout: Duration = .seconds(10)

    @Flag(help: "Print lines on a terminal too.")
    var plain = false

    @Option(
        parsing: .unconditional,
        help: .init("Keep what was received in this file, for 30 days and up to 1 GiB.", valueName: "file"),
        completion: .file()
    )
    var store: String?

    @Option(
        parsing: .unconditional,
        help: .init("Show the fleet in browsers on this machine, too.", valueName: "address:port"),
        transform: LoopbackAddress.parse
    )
    var listen: LoopbackAddress?

    @OptionGroup(title: "Connection") var connection: BrokerOptions

    func validate() throws {
        try connection.check(broker)
        if once, listen != nil { throw ValidationError("--once ends before a browser could read; leave out --listen") }
        if store?.isEmpty == true { throw ValidationError("--store is empty; write a file such as fleet.db") }
        guard once, timeout <= .zero else { return }
        throw ValidationError("--timeout must be longer than 0; write 10s or 1m")
    }

    func execute() throws(ToolError) -> ExitStatus {
        let viewer = try FleetViewer.Configuration(
            client: client(),
            source: "\(broker.host):\(broker.port) \(machines.prefix)"
                + machines.group.sorted().map { " \($0)" }.joined(),
            machines: machines,
            store: store
        )
        if !broker.isSecure, !broker.isLoopback {
            StandardError.note(
                "mqtt:// sends everything unencrypted, which is for one's own network; use mqtts:// beyond it"
            )
        }
        let session = FleetSession.Configuration(
            viewer: viewer,
            broker: broker.host,
            binding: connection.binding,
            isLoopback: broker.isLoopback
        )
        let run = FleetRun(configuration: session)
        if once { return try run.once(asJSON: json, within: timeout) }
        return try run.follow(.init(isJSON: json, isPlain: plain, listen: listen))
    }

    /// The parameters of the client, whose session outlives it only with a store.
    private func client() throws(ToolError) -> MQTTClient.Configuration {
        var client = try connection.client(of: broker)
        client.session.clientID = "nwf-" + String(UInt64.random(in: .min ... .max), radix: 36)
        client.session.acknowledgesReceipt = false
        client.renewsSubscriptions = true
        // A person waits for it, and there are few viewers.
        client.plan = .init(.seconds(1)...(.seconds(30)))
        return client
    }
}
