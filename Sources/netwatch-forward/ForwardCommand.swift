import ArgumentParser
import BrokerCommandLine
import CommandLineSupport
import EventService
import FleetCore
import MQTTClient
import MQTTCore
import NetwatchCore
import NetworkClient

/// `netwatch forward`: sends the events of this machine to an MQTT broker.
struct ForwardCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "forward",
        abstract: CommandSummary.forward,
        discussion: .guide(
            [
                .init("Send events to a broker", "netwatch forward mqtts://broker.example"),
                .init(
                    "With a name, a group, a user and a password",
                    "netwatch forward mqtts://broker.example --node pump-7 --group site-3 --user pump-7 "
                        + "--password-file /etc/netwatch/mqtt.password"
                ),
                .init("Only over links that are not cellular", "netwatch forward mqtts://broker.example --no-cellular"),
                .init("Read them anywhere", "mosquitto_sub -h broker.example -v -t 'netwatch/+/+/events' -q 1"),
            ],
            """
            Follows 'netwatch serve', whose journal has the events of an outage, and sends each of them to the topic \
            PREFIX/GROUP/NODE/events, as a CloudEvent. PREFIX/GROUP/NODE/state has the newest one, and .../link whether the \
            machine is connected. A path that returns is used immediately.

            Exit status: 0 after SIGINT or SIGTERM, 64 usage, 65 the state file is damaged, 71 kernel refusal, 74 the state \
            file can't be written.
            """
        )
    )

    @Argument(
        help: .init("The broker: mqtts://HOST[:8883], or mqtt://HOST[:1883] without TLS.", valueName: "url"),
        transform: BrokerURL.init(parsing:)
    )
    var broker: BrokerURL

    @OptionGroup(title: "Machine") var machine: MachineOptions
    @OptionGroup(title: "Connection") var connection: BrokerOptions

    @Flag(name: .customLong("no-cellular"), help: "Connect only while the path to the broker is not cellular.")
    var avoidsCellular = false

    @Option(
        parsing: .unconditional,
        help: .init("The Unix socket of 'netwatch serve'.", valueName: "path"),
        completion: .file()
    )
    var socket = NetwatchEvents.usualSocket

    @Option(
        parsing: .unconditional,
        help: .init("Remember in this file which events were acknowledged.", valueName: "file"),
        completion: .file()
    )
    var state: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Have Home Assistant find the machine, by topics that begin with this (usually homeassistant).",
            valueName: "prefix"
        ),
        transform: TopicArgument.parseLevels
    )
    var homeAssistant: String?

    func validate() throws {
        try connection.check(broker)
        try machine.check()
        guard avoidsCellular, connection.binding != .unbound else { return }
        throw ValidationError("--no-cellular chooses the interface; leave out --interface")
    }

    func execute() throws(ToolError) -> ExitStatus {
        let invitation = ServiceManager.Invitation.take()
        let position = PositionFile(path: state ?? PositionFile.usualPath)
        var client = try connection.client(of: broker)
        let node = try machine.fleetNode()
        client.session.clientID = node.clientID
        let parameters = Forwarder.Parameters(
            node: node,
            client: client,
            socket: socket,
            homeAssistant: homeAssistant.map(HomeAssistantDiscovery.init(prefix:)),
            path: .init(host: broker.host, binding: connection.binding, avoidsCellular: avoidsCellular)
        )
        if !broker.isSecure, !broker.isLoopback {
            StandardError.note(
                "mqtt:// sends everything unencrypted, which is for one's own network; use mqtts:// beyond it"
            )
        }
        return try ForwardRun(parameters, position: position).run(ServiceNotices(invitation))
    }
}
