import NetworkLab
import ReachabilityCore

/// Draws changes of a namespace's links, addresses, routes, nexthop objects, rules and settings, and makes them.
///
/// Many are refused, as they make no sense at the time; ``accepted`` counts the others by kind.
struct RandomNetworkChanges {
    var generator: SeededGenerator
    let lab: LabNamespace
    /// The number of changes of each kind that the kernel accepted.
    private(set) var accepted: [String: Int] = [:]

    /// The near ends of the veth pairs; the names of the far ends have an `x` in front.
    static let veths = ["wan0", "wan1", "wan2"]
    /// Devices of routes and addresses.
    var devices: [String] { Self.veths + ["ifb9", "mac9", "br9"] }

    init(seed: UInt64, in lab: LabNamespace) {
        generator = .init(seed: seed)
        self.lab = lab
    }

    var rtnl: Rtnl { lab.rtnl }

    /// Makes the devices, all up.
    func prepare() throws {
        for name in Self.veths { try rtnl.createVeth(name, peer: "x" + name) }
        try rtnl.createIFB("ifb9")
        try rtnl.createBridge("br9")
        try rtnl.createMacvlan("mac9", over: "wan0")
        for name in devices + Self.veths.map({ "x" + $0 }) { try rtnl.setUp(name) }
        for (position, name) in devices.enumerated() {
            try rtnl.addAddress("10.\(position).0.1/24", on: name)
            try rtnl.addAddress("2001:db8:\(position)::1/64", on: name)
        }
    }

    /// The kinds of changes, and their frequencies.
    static let kinds: [(weight: Int, name: String, make: @Sendable (inout Self) throws -> String)] = [
        (8, "link", { try $0.changeLink() }),
        (14, "address", { try $0.changeAddress() }),
        (30, "IPv4 route", { try $0.changeRoute(.ipv4) }),
        (30, "IPv6 route", { try $0.changeRoute(.ipv6) }),
        (12, "nexthop", { try $0.changeNexthop() }),
        (6, "rule", { try $0.changeRule() }),
        (4, "setting", { try $0.changeSetting() }),
        (6, "repair", { try $0.repair() }),
    ]

    /// Draws a change and makes it.
    ///
    /// - Returns: A description of the change, and the kernel's error if it refused.
    mutating func next() -> String {
        var draw = Int.random(in: 0..<Self.kinds.reduce(0) { $0 + $1.weight }, using: &generator)
        for kind in Self.kinds {
            draw -= kind.weight
            guard draw < 0 else { continue }
            do {
                let what = try kind.make(&self)
                accepted[kind.name, default: 0] += 1
                return what
            } catch {
                return "refused: \(error)"
            }
        }
        return "nothing"
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
}

// MARK: - Links, addresses, settings

extension RandomNetworkChanges {
    fileprivate mutating func changeLink() throws -> String {
        let name = generator.pick(devices)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1, 2: return try toggle(name)
        case 3, 4, 5: return try toggle("x" + generator.pick(Self.veths))
        case 6: return try remake(generator.pick(Self.veths))
        case 7:
            let group: UInt32 = generator.pick([0, 7])
            try rtnl.setGroup(name, to: group)
            return "group \(group) of \(name)"
        case 8:
            let mtu: UInt32 = generator.pick([1500, 1500, 1500, 1300, 1000, 60])
            try rtnl.setMTU(name, to: mtu)
            return "mtu \(mtu) of \(name)"
        case 9:
            let master = generator.pick([nil, "br9"])
            try rtnl.setMaster(generator.pick(["wan2", "ifb9"]), to: master)
            return "master \(master ?? "none")"
        case 10:
            try rtnl.rename(name, to: "tmp9")
            try rtnl.rename("tmp9", to: name)
            return "rename \(name) and back"
        default:
            let isOn = generator.flip()
            try rtnl.setARP(name, isOn)
            return "arp \(isOn) on \(name)"
        }
    }

    /// Most interesting changes need devices that are up and have addresses.
    private mutating func toggle(_ name: String) throws -> String {
        let isUp = try rtnl.link(name).flags.contains(.up)
        guard isUp else {
            try rtnl.setUp(name)
            return "set \(name) up"
        }
        try rtnl.setDown(name)
        return "set \(name) down"
    }

    /// Sets most devices that are down up again, with an address each.
    mutating func repair() throws -> String {
        for name in Self.veths.map({ "x" + $0 }) + devices where chance(80) {
            let link = try rtnl.link(name)
            if link.mtu != 1500 { try rtnl.setMTU(name, to: 1500) }
            if !link.flags.contains(.up) { try rtnl.setUp(name) }
        }
        for (position, name) in devices.enumerated() where chance(50) {
            try? rtnl.addAddress("2001:db8:\(position)::1/64", on: name)
        }
        return "repair"
    }

    private func remake(_ name: String) throws -> String {
        try rtnl.deleteLink(name)
        try rtnl.createVeth(name, peer: "x" + name)
        try rtnl.setUp(name, "x" + name)
        if name == "wan0" {
            try rtnl.createMacvlan("mac9", over: "wan0")
            try rtnl.setUp("mac9")
        }
        return "remake \(name)"
    }

    fileprivate mutating func changeAddress() throws -> String {
        let name = generator.pick(devices + ["lo"])
        let isIPv4 = generator.flip()
        var message = AddressMessage(
            index: try rtnl.index(of: name),
            address: isIPv4 ? ipv4Address() : ipv6Address(),
            prefixLength: isIPv4 ? generator.pick([24, 24, 24, 16, 32]) : 64,
            scope: isIPv4 ? generator.pick([.universe, .universe, .link, .host]) : .universe,
            flags: isIPv4 ? [] : .noDuplicateDetection
        )
        if isIPv4, chance(10) { message.peer = ipv4Address() }
        if chance(20) {
            message.preferredLifetime = generator.pick([0, 3000])
            message.validLifetime = 6000
        }
        let what = "\(message.address)/\(message.prefixLength) scope \(message.scope.rawValue) on \(name)"
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5: try rtnl.addAddress(message)
        case 5: try rtnl.replaceAddress(message)
        default:
            let listed = try rtnl.addresses(isIPv4 ? .ipv4 : .ipv6, on: name)
            guard !listed.isEmpty else { throw LabError("no address on \(name)", errno: 99) }
            let victim = generator.pick(listed)
            try rtnl.deleteAddress(victim)
            return "delete address \(victim.address)/\(victim.prefixLength) on \(name)"
        }
        return "address \(what)"
    }

    private mutating func ipv4Address() -> IPAddress {
        .init(
            ipv4: 0x0A00_0000 | UInt32.random(in: 0..<6, using: &generator) << 16
                | UInt32.random(in: 1..<5, using: &generator)
        )
    }

    private mutating func ipv6Address() -> IPAddress {
        let prefix = UInt128(0x2001_0DB8) << 96 | UInt128.random(in: 0..<6, using: &generator) << 80
        let site = UInt128(0xFEC0) << 112
        let link = UInt128(0xFE80) << 112
        return .init(
            family: .ipv6,
            bits: generator.pick([prefix, prefix, prefix, site, link]) | .random(in: 1..<5, using: &generator)
        )
    }

    fileprivate mutating func changeSetting() throws -> String {
        let value = generator.pick([0, 1])
        let place = generator.pick(["all", "default"] + devices)
        let family = generator.pick(["ipv4", "ipv6"])
        let name = generator.pick([
            "net.\(family).conf.\(place).ignore_routes_with_linkdown",
            "net.\(family).conf.\(place).ignore_routes_with_linkdown",
            "net.\(family).conf.\(place).forwarding",
            "net.ipv4.conf.all.promote_secondaries",
            "net.ipv4.nexthop_compat_mode",
            "net.ipv6.route.skip_notify_on_dev_down",
            "net.ipv6.conf.\(place).keep_addr_on_down",
        ])
        try lab.setSysctl(name, to: value)
        return "\(name) = \(value)"
    }
}
