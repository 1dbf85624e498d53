import CommandLineLab
import Glibc
import NetworkLab
import ReachabilityCore
import Testing

/// A machine, two routers and a server in namespaces of their own, with links between neighbours.
///
/// The server is at hop 3: `home` - 192.0.2.0/24 - `first` - 198.51.100.0/24 - `second` - 203.0.113.0/24 - `server`. With
/// IPv6 the networks are 2001:db8:1::/64 to 2001:db8:3::/64.
struct RouterChain {
    let home: LabNamespace
    let first: LabNamespace
    let second: LabNamespace
    let server: LabNamespace

    /// An address family, with the addresses in it.
    struct Family: Sendable, CustomTestStringConvertible {
        var family: AddressFamily
        /// The gateway, the second router, and the server.
        var hops: [String]
        /// An address on the server's link at which nothing is.
        var nobody: String
        /// An address on the machine's own link at which nothing is.
        var neighbor: String
        /// An address of another network, behind both routers.
        var elsewhere: String

        var testDescription: String { "\(family)" }
        var server: String { hops[2] }
    }

    static let families = [
        Family(
            family: .ipv4,
            hops: ["192.0.2.1", "198.51.100.2", "203.0.113.7"],
            nobody: "203.0.113.9",
            neighbor: "192.0.2.9",
            elsewhere: "198.18.0.1"
        ),
        Family(
            family: .ipv6,
            hops: ["2001:db8:1::1", "2001:db8:2::2", "2001:db8:3::7"],
            nobody: "2001:db8:3::9",
            neighbor: "2001:db8:1::9",
            elsewhere: "2001:db8:9::1"
        ),
    ]

    init() throws {
        (home, first, second, server) = (try .init(), try .init(), try .init(), try .init())
        for lab in [home, first, second, server] {
            // Link-local addresses are usable immediately: no story waits for duplicate address detection.
            try lab.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        }
        for router in [first, second] {
            try router.setSysctl("net.ipv4.ip_forward", to: 1)
            try router.setSysctl("net.ipv6.conf.all.forwarding", to: 1)
        }
        try Self.join(
            home,
            "wan0",
            "192.0.2.2/24",
            "2001:db8:1::2/64",
            first,
            "lan0",
            "192.0.2.1/24",
            "2001:db8:1::1/64"
        )
        try Self.join(
            first,
            "up0",
            "198.51.100.1/24",
            "2001:db8:2::1/64",
            second,
            "down0",
            "198.51.100.2/24",
            "2001:db8:2::2/64"
        )
        try Self.join(
            second,
            "up0",
            "203.0.113.1/24",
            "2001:db8:3::1/64",
            server,
            "eth0",
            "203.0.113.7/24",
            "2001:db8:3::7/64"
        )
        try Self.route(home, via: "192.0.2.1", "2001:db8:1::1", on: "wan0")
        try Self.route(first, via: "198.51.100.2", "2001:db8:2::2", on: "up0")
        try Self.route(server, via: "203.0.113.1", "2001:db8:3::1", on: "eth0")
        try second.rtnl.addRoute("192.0.2.0/24", via: "198.51.100.1", on: "down0")
        try second.rtnl.addRoute("2001:db8:1::/64", via: "2001:db8:2::1", on: "down0")
    }

    // swift-format-ignore: both ends of a link, each with its addresses
    private static func join(
        _ near: LabNamespace,
        _ name: String,
        _ ipv4: String,
        _ ipv6: String,
        _ far: LabNamespace,
        _ peer: String,
        _ peerIPv4: String,
        _ peerIPv6: String
    ) throws {
        try near.rtnl.createVeth(name, .init(index: 10), peer: peer, .init(index: 20, namespace: far))
        try near.rtnl.setUp(name)
        try far.rtnl.setUp(peer)
        for address in [ipv4, ipv6] { try near.rtnl.addAddress(address, on: name) }
        for address in [peerIPv4, peerIPv6] { try far.rtnl.addAddress(address, on: peer) }
    }

    private static func route(_ lab: LabNamespace, via ipv4: String, _ ipv6: String, on interface: String) throws {
        for gateway in [ipv4, ipv6] { try lab.rtnl.addRoute("default", via: gateway, on: interface) }
    }

    /// What the tool printed, and how it exited.
    struct Run {
        var text: String
        var errors: String
        var code: Int32

        /// The lines without indentation, and with `T` for each time.
        var lines: [String] {
            text.split(separator: "\n").map { line in
                String(line.replacing(#/[0-9.]+ ms/#, with: "T").trimmingPrefix { $0 == " " })
            }
        }
    }

    /// Traces as a user without any privilege over the machine.
    func trace(_ arguments: String...) throws -> Run { try run(Self.command(arguments)) }

    /// The tool's arguments for a trace, with a limit longer than a busy machine takes, unless the limit is what matters.
    static func command(_ arguments: [String]) -> [String] {
        ["trace"] + arguments + (arguments.contains("--timeout") ? [] : ["--timeout", "100s"])
    }

    /// Runs the tool as a user without any privilege over the machine.
    func run(_ arguments: [String]) throws -> Run { try finish(start(arguments)) }

    /// Starts the tool in a user namespace that owns no other one.
    func start(_ arguments: [String], stdout: ToolProcess.Destination = .pipe) throws -> ToolProcess {
        try ToolProcess(arguments, in: home, stdout: stdout, through: ["/usr/bin/unshare", "--user"])
    }

    /// Waits for the tool's end; the other namespaces, in which no process is, live as long.
    func finish(_ tool: ToolProcess) throws -> Run {
        defer { withExtendedLifetime((self, tool)) {} }
        return Run(text: try tool.output.rest(), errors: try tool.errors.rest(), code: try tool.exitCode())
    }

    /// Has a router send nothing of its own: it forwards packets, and ICMP errors are discarded.
    func silence(_ router: LabNamespace) throws {
        for prefix in ["192.0.2.0/24", "2001:db8:1::/64"].map(Self.prefix) {
            var rule = RuleMessage(family: prefix.address.family)
            rule.priority = 1
            rule.action = .blackhole
            rule.inputInterface = "lo"
            rule.destination = prefix
            try router.rtnl.addRule(rule)
        }
    }

    /// Has the second router reject or discard the packets to the other network by a route of a type.
    func reject(_ family: Family, _ type: RouteType) throws {
        var route = RouteMessage(destination: Self.prefix(family.elsewhere))
        route.type = type
        try second.rtnl.route(.add, route)
    }

    private static func prefix(_ text: String) -> IPPrefix {
        let parts = text.split(separator: "/").map(String.init)
        let address = IPAddress(parts[0]) ?? .init(ipv4: 0)
        return .init(address, length: parts.count > 1 ? UInt8(parts[1]) ?? 0 : UInt8(address.family.bitWidth))
    }

    /// The number of UDP datagrams that the machine has sent (`/proc/net/snmp` and `/proc/net/snmp6`).
    func sentDatagrams() throws -> Int {
        let ipv4 = try words(of: "snmp").filter { $0.first == "Udp:" }
        guard ipv4.count == 2, let column = ipv4[0].firstIndex(of: "OutDatagrams"), let count = Int(ipv4[1][column]),
            let ipv6 = try words(of: "snmp6").first(where: { $0.first == "Udp6OutDatagrams" }), let other = Int(ipv6[1])
        else { throw LabError("count datagrams", errno: ENODATA) }
        return count + other
    }

    /// The words of each line of a file about the machine's network.
    private func words(of file: String) throws -> [[String]] {
        let bytes = try home.run { try Repository.bytes(of: "/proc/thread-self/net/\(file)") }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            line.split { $0 == " " || $0 == "\t" }.map(String.init)
        }
    }
}
