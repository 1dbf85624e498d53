import Glibc
import HTTPLab
import NetworkLab
import ReachabilityCore

/// A machine, its router, and the internet behind that, each a network namespace of its own.
///
/// `wan0` of the machine is 192.0.2.2 and 2001:db8:1::2, and its router 192.0.2.1 and 2001:db8:1::1. The internet has two
/// servers, 203.0.113.7 and 203.0.113.8. The machine has no default route until ``join()``.
final class ProbedNetwork: Sendable {
    let machine: LabNamespace
    let router: LabNamespace
    let internet: LabNamespace

    /// The servers' addresses.
    static let servers = ["203.0.113.7", "203.0.113.8"]
    /// The programs that the lab needs, with their packages.
    static let advice = "nginx, nft, dnsmasq, radvd or tayga is not installed: run scripts/setup --for-tests"
    static let isInstalled = Nginx.isInstalled && programs.allSatisfy { access("/usr/sbin/\($0)", X_OK) == 0 }
    private static let programs = ["nft", "dnsmasq", "radvd", "tayga"]

    /// Makes the namespaces, of which the machine's and the router's link has only one family.
    init(_ family: AddressFamily = .ipv4) throws {
        machine = try LabNamespace()
        router = try LabNamespace()
        internet = try LabNamespace()
        try connect()
        try setUpInternet()
        if family == .ipv4 { try setUpIPv4() } else { try setUpIPv6() }
    }

    private func connect() throws {
        try machine.rtnl.createVeth("wan0", .init(index: 10), peer: "lan0", .init(index: 20, namespace: router))
        try router.rtnl.createVeth("up0", .init(index: 21), peer: "down0", .init(index: 30, namespace: internet))
        // IPv6 is switched on where it is wanted: its own messages would be counted.
        for (lab, name) in [(machine, "wan0"), (router, "lan0"), (router, "up0"), (internet, "down0")] {
            try lab.setSysctl("net.ipv6.conf.\(name).disable_ipv6", to: 1)
            try lab.rtnl.setUp(name)
            _ = try lab.rtnl.link(name)
        }
        try router.setSysctl("net.ipv4.conf.all.forwarding", to: 1)
    }

    private func setUpInternet() throws {
        try router.rtnl.addAddress("198.51.100.1/24", on: "up0")
        try internet.rtnl.addAddress("198.51.100.2/24", on: "down0")
        for server in Self.servers { try internet.rtnl.addAddress("\(server)/32", on: "lo") }
        try router.rtnl.addRoute("default", via: "198.51.100.2", on: "up0")
        try internet.rtnl.addRoute("default", via: "198.51.100.1", on: "down0")
    }

    private func setUpIPv4() throws {
        try router.rtnl.addAddress("192.0.2.1/24", on: "lan0")
        try machine.rtnl.addAddress("192.0.2.2/24", on: "wan0")
    }

    private func setUpIPv6() throws {
        for (lab, name) in [(machine, "wan0"), (router, "lan0")] {
            // Without the check for duplicates, addresses can be used at once.
            try lab.setSysctl("net.ipv6.conf.\(name).accept_dad", to: 0)
            try lab.setSysctl("net.ipv6.conf.\(name).disable_ipv6", to: 0)
        }
        try router.setSysctl("net.ipv6.conf.all.forwarding", to: 1)
        try router.rtnl.addAddress("2001:db8:1::1/64", on: "lan0")
    }

    /// Gives the machine its default route, which is the event that its verdict follows; returns when, as
    /// ``now``.
    func join() throws -> Int64 {
        let time = Self.now
        try machine.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        return time
    }

    /// The time of `CLOCK_BOOTTIME`, in nanoseconds.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: The router

    /// Adds rules to the router, as nft(8) reads them; those of before are removed.
    func setRules(_ rules: String) throws {
        try Self.run("/usr/sbin/nft", ["flush ruleset; \(rules)"], in: router)
    }

    /// Redirects TCP connections of the machine from ports to others on the router itself, and forwards nothing else.
    func intercept(_ ports: [(from: Int, to: Int)], forwards: Bool = false) throws {
        let redirects = ports.map { "iifname lan0 tcp dport \($0.from) redirect to :\($0.to);" }.joined(separator: " ")
        try setRules(
            """
            table ip portal {
                chain catch { type nat hook prerouting priority -100; \(redirects) }
                chain forward { type filter hook forward priority 0; \(forwards ? "" : "iifname lan0 drop;") }
            }
            """
        )
    }

    /// Has the router drop what the machine sends on, where a rule of nft(8) applies; everything by default.
    func drop(_ rule: String = "") throws {
        try setRules(
            """
            table ip loss {
                chain forward { type filter hook forward priority 0; iifname lan0 \(rule) drop; }
            }
            """
        )
    }

    /// Runs a program in a namespace to its end.
    static func run(_ path: String, _ arguments: [String], in lab: LabNamespace) throws {
        let outcome = try lab.run { try LabProcess.run(path, arguments) }
        guard outcome.code == 0 else {
            throw LabError("run \(path) \(arguments.joined(separator: " "))", errno: EIO, detail: outcome.errors)
        }
    }
}
