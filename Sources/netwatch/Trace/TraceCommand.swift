import ArgumentParser
import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// `netwatch trace`: how far packets to a host come.
struct TraceCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Find out how far packets to a host come.",
        discussion: .guide(
            [
                .init("Show the routers on the path to a host", "netwatch trace 192.0.2.7"),
                .init("Send TCP, where firewalls ignore UDP", "netwatch trace server.example --tcp 443"),
                .init("Use one uplink, and look up names", "netwatch trace 192.0.2.7 --interface wwan0 --names"),
                .init("Find a link with a smaller MTU", "netwatch trace 192.0.2.7 --size 1500"),
            ],
            """
            This sends packets: at most 3 to each hop, and none beyond the hop that ends the path. It needs no privilege. \
            Exit status: 0 the host answers; 1 it does not; 2 there is no route to it, or its name cannot be resolved.
            """
        )
    )

    @Argument(help: .init("An address, or a name to resolve.", valueName: "host"), transform: TraceHostArgument.parse)
    var host: TraceHost

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Use IPv4 only.")
    var isIPv4Only = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Use IPv6 only.")
    var isIPv6Only = false

    @Option(
        parsing: .unconditional,
        help: .init("Connect by TCP to this port instead of sending UDP.", valueName: "port"),
        transform: NumberArgument.port
    )
    var tcp: UInt16?

    @Option(
        parsing: .unconditional,
        help: .init("Try at most this many hops (default: 30).", valueName: "count"),
        transform: NumberArgument.hops
    )
    var hops: Int?

    @Option(
        parsing: .unconditional,
        help: .init("Send UDP packets of this size, to find small MTUs.", valueName: "bytes"),
        transform: NumberArgument.size
    )
    var size: Int?

    @Option(
        parsing: .unconditional,
        help: .init("Send through this interface.", valueName: "name"),
        completion: .shellCommand("ls /sys/class/net")
    )
    var interface: String?

    @Option(
        parsing: .unconditional,
        help: .init("Stop after this (default: 10s).", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var timeout: Duration = Self.defaultTimeout

    /// Longer than a trace takes whose hops are all silent.
    static let defaultTimeout = Duration.seconds(10)

    @Flag(help: "Look up the names of the hops.")
    var names = false

    @Flag(help: "Print JSON Lines.")
    var json = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if isIPv4Only, isIPv6Only { throw ValidationError("-4 and -6 exclude each other; leave one out") }
        if tcp != nil, size != nil { throw ValidationError("--size is of UDP packets; leave out --size or --tcp") }
        if let interface, let zone = host.zone, interface != zone {
            throw ValidationError("--interface and the zone of the address differ; leave one out")
        }
        if case .address(let address) = host.host { try check(address) }
    }

    private func check(_ address: IPAddress) throws {
        guard family == nil || address.family == family else {
            throw ValidationError("'\(address)' is of the other address family; leave out \(isIPv4Only ? "-4" : "-6")")
        }
        guard !needsLink(address) || link != nil else {
            throw ValidationError("'\(address)' is link-local; say on which link, as in \(address)%eth0")
        }
    }

    func execute() throws(ToolError) -> ExitStatus {
        let deadline = SystemClock.now.advanced(by: timeout)
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(common.configuration, wakeup: wakeup) { _ in }
        let addresses = try addresses(session, until: deadline)
        let lookup = TraceLookup(session: session, link: link, settings: settings)
        let destination = try lookup.destination(among: addresses)
        return try report(destination, until: deadline, wakeup)
    }

    /// The only address family; nil for both.
    private var family: AddressFamily? { isIPv4Only ? .ipv4 : isIPv6Only ? .ipv6 : nil }

    /// The interface that was asked for.
    private var link: String? { interface ?? host.zone }

    private func needsLink(_ address: IPAddress) -> Bool { address.family == .ipv6 && address.isLinkLocal }

    private var settings: TraceSettings {
        var settings = TraceSettings()
        if let hops { settings.maximumHops = hops }
        if let size { settings.size = size }
        return settings
    }

    /// The host's addresses of the family that was asked for; at least one.
    private func addresses(_ session: MonitorSession, until deadline: Instant) throws(ToolError) -> [IPAddress] {
        let all = try HostResolver.addresses(of: host.host, in: common.netns, during: session, until: deadline)
        let usable = all.filter { (family == nil || $0.family == family) && (!needsLink($0) || link != nil) }
        guard usable.isEmpty else { return usable }
        let wanted = family == .ipv4 ? "IPv4 address" : family == .ipv6 ? "IPv6 address" : "address but link-local ones"
        throw .init("'\(host.text.escapedForTerminal)' has no \(wanted)", exit: .unknown)
    }

    private func report(
        _ destination: TraceDestination,
        until deadline: Instant,
        _ wakeup: Wakeup
    ) throws(ToolError) -> ExitStatus {
        var destination = destination
        if let tcp { destination.target.transport = .tcp(port: tcp) }
        destination.text.port = tcp
        if case .name(let name) = host.host { destination.text.host = name }
        var report = TraceReport(
            destination: destination,
            namespace: common.netns,
            deadline: deadline,
            wakeup: wakeup,
            isJSON: json
        )
        if names { report.names = HopNames(wakeup: wakeup, timeout: timeout / 10) }
        return try report.write()
    }
}
