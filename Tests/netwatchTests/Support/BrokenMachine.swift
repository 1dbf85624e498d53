import CommandLineLab
import Glibc
import NetworkLab
import ReachabilityCore
import Testing

/// A machine with a ``BrokenSetup``.
struct BrokenMachine {
    /// The machine.
    let lab: LabNamespace
    private let far: LabNamespace

    /// Makes it.
    init(_ setup: BrokenSetup) throws {
        lab = try LabNamespace()
        far = try LabNamespace()
        guard setup != .noInterface else { return }
        // Link-local addresses are usable immediately.
        try lab.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        try lab.rtnl.createVeth("eth0", .init(index: 10), peer: "sw0", .init(index: 20, namespace: far))
        try breakIt(setup)
    }

    /// Starts the tool there.
    func tool(_ arguments: String...) throws -> ToolProcess {
        try ToolProcess(arguments + BrokenSetup.kinds, in: lab)
    }

    /// Executes a fix: a command of ip(8), or one of sysctl(8) that sets one value.
    func carryOut(_ fix: String) throws {
        let words = fix.filter { $0 != "'" }.split(separator: " ").map(String.init)
        if words.first == "sysctl", let setting = words.last?.split(separator: "="), let value = Int(setting[1]) {
            return try lab.setSysctl(String(setting[0]), to: value)
        }
        let shell = "PATH=$PATH:/usr/sbin:/sbin; exec \(words.joined(separator: " "))"
        let outcome = try lab.run { try LabProcess.run("/bin/sh", ["-c", shell]) }
        guard outcome.code == 0 else { throw LabError(shell, errno: outcome.code, detail: outcome.errors) }
    }

    private func breakIt(_ setup: BrokenSetup) throws {
        switch setup {
        case .noInterface, .switchedOff: break
        case .noCarrier: try connect(hasCarrier: false)
        case .noAddress: try turnOn()
        case .noDefaultRoute:
            try turnOn()
            try lab.rtnl.addAddress("192.0.2.2/24", on: "eth0")
        case .linkLocalOnly:
            try turnOn()
            try lab.rtnl.addAddress("169.254.7.9/16", on: "eth0")
        case .dormant:
            try lab.rtnl.setLinkMode("eth0", to: .dormant)
            try turnOn()
        case .deadPreferredLink:
            try connect(hasCarrier: false)
            try addModem()
        case .half:
            try turnOn()
            try lab.rtnl.addAddress("192.0.2.2/24", on: "eth0")
            try lab.rtnl.addRoute("0.0.0.0/1", via: "192.0.2.1", on: "eth0")
        case .unreachableOnTop, .sourceRule, .ruleThatRefuses: try refuse(setup)
        case .expiredAdvertisement: try expire()
        case .bridgeWithoutCarrier: try bridge()
        case .tunnelWithoutCarrier: try tunnel()
        }
    }

    private func turnOn() throws {
        try far.rtnl.setUp("sw0")
        try lab.rtnl.setUp("eth0")
    }

    /// Everything that a machine needs, except possibly a carrier.
    private func connect(hasCarrier: Bool = true) throws {
        if hasCarrier { try far.rtnl.setUp("sw0") }
        try lab.rtnl.setUp("eth0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "eth0")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "eth0", metric: 100)
    }

    private func addModem() throws {
        try lab.rtnl.createVeth("wwan0", .init(index: 11), peer: "tower0", .init(index: 21, namespace: far))
        try far.rtnl.setUp("tower0")
        try lab.rtnl.setUp("wwan0")
        try lab.rtnl.addAddress("198.51.100.2/24", on: "wwan0")
        try lab.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700)
    }

    private func refuse(_ setup: BrokenSetup) throws {
        try connect()
        var rule = RuleMessage(family: .ipv4)
        if setup == .ruleThatRefuses {
            rule.priority = 50
            rule.action = .prohibit
            return try lab.rtnl.addRule(rule)
        }
        let table: RouteTableID = setup == .sourceRule ? .init(rawValue: 100) : .main
        var route = RouteMessage(destination: .all(.ipv4), table: table)
        route.type = .unreachable
        try lab.rtnl.route(.add, route)
        guard setup == .sourceRule else { return }
        rule.priority = 100
        rule.table = table
        rule.source = .init(.init(ipv4: 0xC000_0202), length: 32)
        try lab.rtnl.addRule(rule)
    }

    /// A router advertises itself once, and not again.
    ///
    /// The kernel keeps the route when it expires, and removes it half a minute after it was added.
    private func expire() throws {
        try far.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        try turnOn()
        try far.rtnl.addAddress("fe80::1/64", on: "sw0")
        try lab.rtnl.addAddress("2001:db8::2/64", on: "eth0")
        let router = try #require(IPAddress("fe80::1"))
        try far.advertiseRouter(router, lifetime: 1, on: 20)
        // The kernel is asked, as a program may have taken longer to start than the route lives.
        let deadline = ContinuousClock.now + .seconds(120)
        var next = ContinuousClock.now + .seconds(20)
        while try !lab.rtnl.routes(.ipv6).contains(where: { $0.lifetime == .zero }) {
            guard ContinuousClock.now < deadline else { throw LabError("wait for an expired route", errno: ETIMEDOUT) }
            // The advertisement may have been lost, or the route was removed before it was seen to be expired.
            if ContinuousClock.now >= next {
                try far.advertiseRouter(router, lifetime: 1, on: 20)
                next = ContinuousClock.now + .seconds(20)
            }
            usleep(20_000)
        }
    }

    private func bridge() throws {
        try lab.rtnl.createBridge("br0", .init(index: 12))
        try lab.rtnl.setMaster("eth0", to: "br0")
        try lab.rtnl.setUp("eth0", "br0")
    }

    private func tunnel() throws {
        try connect(hasCarrier: false)
        try lab.rtnl.createVXLAN("vx0", id: 7, over: "eth0", .init(index: 13))
        try lab.rtnl.setUp("vx0")
        try lab.rtnl.addAddress("10.0.0.2/24", on: "vx0")
        try lab.rtnl.addRoute("default", via: "10.0.0.1", on: "vx0")
    }
}
