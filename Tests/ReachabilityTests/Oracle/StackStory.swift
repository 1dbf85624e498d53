import NetworkLab

@testable import ReachabilityCore

/// Random changes of a machine's uplinks, and of the bridges, macvlans, tunnels, routes and rules over them.
struct StackStory {
    let world: StackWorld
    private var dice: Dice
    /// The last changes, to repeat a failed story by hand.
    private(set) var log: [String] = []
    /// The number of times that each change was made.
    private(set) var counts: [String: Int] = [:]
    /// Whether the default route has several next hops.
    private(set) var isMultipath = false
    /// The uplink in the bridge.
    private var port: String?
    private var rules: [RuleMessage] = []
    private var rtnl: Rtnl { world.machine.rtnl }

    init(_ world: StackWorld, seed: UInt64) {
        self.world = world
        dice = Dice(seed: seed)
    }

    /// The initial stack.
    mutating func begin() throws {
        try setPort("eth0")
        try? addMacvlan()
        try? addTunnel()
        try? setDefault()
    }

    /// Makes one change; the kernel may refuse it.
    mutating func step() {
        do {
            switch dice.roll(0...9) {
            case 0, 1: try toggleCarrier()
            case 2, 3: try setDefault()
            case 4: try addMacvlan()
            case 5: try addTunnel()
            case 6: try setPort(dice.pick([nil, "eth0", "wlan0", "wwan0"]))
            case 7: try setHostRoute()
            case 8: try changeRule()
            default: try moveTunnelPort()
            }
        } catch {
            note("refused", "\(error)")
        }
    }

    private mutating func note(_ kind: String, _ text: String) {
        counts[kind, default: 0] += 1
        log.append("\(kind) \(text)")
        if log.count > 12 { log.removeFirst() }
    }

    private mutating func toggleCarrier() throws {
        let name = dice.pick(StackWorld.uplinks)
        let isUp = dice.once(in: 2)
        note("carrier", "\(name) \(isUp ? "gained" : "lost")")
        if isUp { try world.world.rtnl.setUp("far-\(name)") } else { try world.world.rtnl.setDown("far-\(name)") }
    }

    private mutating func setDefault() throws {
        let all = ["eth0", "wlan0", "wwan0", "br0", "mv0", "vx0"]
        let first = dice.pick(all)
        let second = dice.once(in: 3) ? dice.pick(all.filter { $0 != first }) : nil
        note(second == nil ? "default" : "ECMP", ([first] + [second].compactMap(\.self)).joined(separator: " "))
        var route = RouteMessage(destination: .all(.ipv4))
        route.nextHops = try ([first] + [second].compactMap(\.self)).map { name in
            NextHop(interface: try rtnl.index(of: name), gateway: IPAddress(Self.gateway(of: name)))
        }
        try rtnl.route(.replace, route)
        isMultipath = second != nil
    }

    private static func gateway(of name: String) -> String {
        if let number = StackWorld.uplinks.firstIndex(of: name) { return "10.0.\(number).1" }
        return switch name {
        case "br0": "10.9.0.1"
        case "mv0": "10.8.0.1"
        default: "10.7.0.1"
        }
    }

    private mutating func addMacvlan() throws {
        let lower = dice.pick(StackWorld.uplinks.filter { $0 != port })
        note("macvlan", "over \(lower)")
        try? rtnl.deleteLink("mv0")
        try rtnl.createMacvlan("mv0", over: lower)
        try rtnl.setUp("mv0")
        try world.addAddress("mv0", "10.8.0")
    }

    /// A VXLAN tunnel, with or without an address of its own, a link that it is bound to, and a TOS.
    private mutating func addTunnel() throws {
        let source = dice.once(in: 2) ? dice.roll(0...2) : nil
        let lower = dice.once(in: 4) ? dice.pick(StackWorld.uplinks) : nil
        let tos: UInt8? = dice.once(in: 3) ? dice.pick([0x10, 0x08, 1]) : nil
        note("tunnel", "source \(source.map(String.init) ?? "-") link \(lower ?? "-") tos \(tos ?? 0)")
        try? rtnl.deleteLink("vx0")
        let lowerIndex = try lower.map { try rtnl.index(of: $0) }
        try rtnl.createLink("vx0", kind: "vxlan") { data in
            data.attribute(1, UInt32(7))
            data.attribute(15, networkOrder: UInt16(4789))
            if let remote = IPAddress(StackWorld.endpoint) { data.attribute(2, remote) }
            if let source = source.flatMap({ IPAddress("10.0.\($0).2") }) { data.attribute(4, source) }
            if let lowerIndex { data.attribute(3, index: lowerIndex) }
            if let tos { data.attribute(6, tos) }
        }
        try rtnl.setUp("vx0")
        try world.addAddress("vx0", "10.7.0")
    }

    /// Replaces the uplink in the bridge.
    private mutating func setPort(_ name: String?) throws {
        note("port", name ?? "none")
        if let port { try rtnl.setMaster(port, to: nil) }
        port = nil
        guard let name else { return }
        try rtnl.setMaster(name, to: "br0")
        port = name
    }

    private mutating func setHostRoute() throws {
        let number = dice.roll(0...2)
        let isAdded = dice.once(in: 2)
        note("host route", isAdded ? StackWorld.uplinks[number] : "removed")
        guard let endpoint = IPAddress(StackWorld.endpoint) else { return }
        var route = RouteMessage(destination: .init(endpoint, length: 32))
        guard isAdded else { return try rtnl.route(.delete, route) }
        let interface = try rtnl.index(of: StackWorld.uplinks[number])
        route.nextHops = [.init(interface: interface, gateway: IPAddress("10.0.\(number).1"))]
        try rtnl.route(.replace, route)
    }

    /// Adds a rule on a source, a TOS or the tunnels' remote address, or removes one.
    private mutating func changeRule() throws {
        if rules.count > 2 || (!rules.isEmpty && dice.once(in: 2)) {
            let rule = rules.remove(at: dice.roll(0...rules.count - 1))
            note("rule", "away: priority \(rule.priority)")
            return try rtnl.deleteRule(rule)
        }
        var rule = RuleMessage(family: .ipv4)
        rule.priority = dice.roll(100...199)
        rule.table = .init(rawValue: dice.roll(101...103))
        switch dice.roll(0...2) {
        case 0: rule.source = .init(IPAddress("10.0.\(dice.roll(0...2)).2") ?? .init(ipv4: 0), length: 32)
        case 1: rule.tos = dice.pick([0x10, 0x08])
        default: rule.destination = .init(IPAddress(StackWorld.endpoint) ?? .init(ipv4: 0), length: 32)
        }
        note("rule", "from \(rule.source) to \(rule.destination) tos \(rule.tos) table \(rule.table.rawValue)")
        try rtnl.addRule(rule)
        rules.append(rule)
    }

    private mutating func moveTunnelPort() throws {
        let isPort = dice.once(in: 2)
        note("tunnel port", isPort ? "br0" : "none")
        try rtnl.setMaster("vx0", to: isPort ? "br0" : nil)
    }
}
