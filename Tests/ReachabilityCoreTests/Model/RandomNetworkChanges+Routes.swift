import NetworkLab
import ReachabilityCore

// MARK: - Routes, nexthop objects, rules

extension RandomNetworkChanges {
    mutating func changeRoute(_ family: AddressFamily) throws -> String {
        if chance(22) { return try deleteRoute(family) }
        var verb = generator.pick([RouteVerb.add, .add, .append, .append, .prepend, .replace, .replace, .change])
        var route = try route(family)
        if family == .ipv6 { try avoidKernelFaults(&route, &verb) }
        try rtnl.route(verb, route)
        return "\(verb) \(Self.text(route))"
    }

    /// Avoids two faults of the kernel's IPv6 that its dumps and messages do not show.
    ///
    /// A route between the next hops of a multipath route is left out of dumps and outlives its device
    /// (`fib6_dump_node`, `fib6_clean_node`); so multipath routes have a metric of their own. And replacing can make
    /// two equal routes.
    private mutating func avoidKernelFaults(_ route: inout RouteMessage, _ verb: inout RouteVerb) throws {
        let isJoinable = route.nexthopID == nil && route.nextHops.first?.gateway != nil
        if route.metric == 5, !isJoinable { route.metric = 9 }
        guard route.metric == 9 else { return }
        if isJoinable {
            route.nextHops = Array(route.nextHops.prefix(1))
            verb = generator.pick([.add, .replace, .change])
        }
        let same = try rtnl.routes(.ipv6, table: route.table).filter { [route] other in
            guard other.destination == route.destination, other.source == route.source, other.metric == route.metric,
                other.nexthopID == route.nexthopID
            else { return false }
            // A route that refuses is listed with the loopback interface.
            let ways = route.nextHops.isEmpty ? [1] : route.nextHops.map(\.interface)
            return route.nexthopID != nil || other.nextHops.map(\.interface) == ways
        }
        if !same.isEmpty { verb = .add }
    }

    /// Deletes an existing route, identified by all or few of its properties, or one of its next hops.
    private mutating func deleteRoute(_ family: AddressFamily) throws -> String {
        let listed = try rtnl.routes(family).filter { $0.isDefaultLike }
        guard !listed.isEmpty else { throw LabError("no \(family) route", errno: 3) }
        var victim = generator.pick(listed)
        victim.preference = .medium
        victim.lifetime = nil
        if chance(30) { victim.origin = 0 }
        if chance(30) { victim.preferredSource = nil }
        if victim.nexthopID != nil { victim.nextHops = [] }
        if chance(20), victim.nexthopID == nil { victim.nextHops = [] }
        if family == .ipv6, victim.nextHops.count > 1, chance(60) {
            victim.nextHops = [generator.pick(victim.nextHops)]
        }
        for position in victim.nextHops.indices { victim.nextHops[position].flags = [] }
        try rtnl.route(.delete, victim)
        return "delete \(Self.text(victim))"
    }

    private mutating func route(_ family: AddressFamily) throws -> RouteMessage {
        let all = IPAddress(family: family, bits: 0)
        let half = IPAddress(family: family, bits: 1 << 127)
        let prefix = generator.pick([
            IPPrefix(all, length: 0), .init(all, length: 0), .init(all, length: 0), .init(all, length: 0),
            .init(all, length: 0), .init(half, length: 1), .init(half, length: 4),
        ])
        var route = RouteMessage(destination: prefix, table: generator.pick([.main, .main, .init(rawValue: 300)]))
        route.metric = generator.pick([5, 5, 5, 9])
        route.origin = generator.pick([3, 3, 4, 9, 186])
        if family == .ipv4 {
            route.tos = generator.pick([0, 0, 0, 16])
        } else {
            if chance(15) { route.source = .init(ipv6Base, length: 32) }
            route.preference = generator.pick([.medium, .medium, .high])
            // Routes of router advertisements cannot be distinguished from each other, and are not joined with others.
            if chance(10), route.origin != 9 { route.lifetime = .seconds(3000) }
        }
        try drawTarget(&route)
        return route
    }

    private var ipv6Base: IPAddress { .init(family: .ipv6, bits: 0x2001_0DB8 << 96) }

    private mutating func drawTarget(_ route: inout RouteMessage) throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            route.type = generator.pick([.unreachable, .blackhole, .prohibit, .throw])
        case 1, 2:
            route.nexthopID = try nexthopID(route.family)
        case 3:
            route.scope = generator.pick([.link, .host])
            route.nextHops = [.init(interface: try rtnl.index(of: upDevice()))]
            try drawPreference(&route)
        case 4, 5:
            route.nextHops = try (0..<Int.random(in: 2...3, using: &generator)).map { _ in try nextHop(route.family) }
        default:
            route.nextHops = [try nextHop(route.family)]
            try drawPreference(&route)
        }
    }

    private mutating func drawPreference(_ route: inout RouteMessage) throws {
        guard chance(20) else { return }
        let name = generator.pick(devices + ["lo"])
        route.preferredSource = try rtnl.addresses(route.family, on: name).first?.address
    }

    /// Mostly a device that is up, as the kernel accepts no route through others.
    private mutating func upDevice() throws -> String {
        let names = generator.flip() ? Self.veths : devices
        let name = generator.pick(names)
        guard try !rtnl.link(name).flags.contains(.up) else { return name }
        return generator.pick(devices)
    }

    /// Mostly an existing object, of the family or a group.
    private mutating func nexthopID(_ family: AddressFamily) throws -> UInt32 {
        let known = try rtnl.events(of: .nexthops).compactMap { event -> UInt32? in
            guard case .nexthop(let nexthop) = event else { return nil }
            return nexthop.family == nil || nexthop.family == family ? nexthop.id : nil
        }
        return known.isEmpty ? .random(in: 1...8, using: &generator) : generator.pick(known)
    }

    private mutating func nextHop(_ family: AddressFamily) throws -> NextHop {
        let name = try upDevice()
        let position = UInt128(devices.firstIndex(of: name) ?? 0)
        let host = UInt128.random(in: 200..<203, using: &generator)
        let gateway =
            family == .ipv4
            ? IPAddress(family: .ipv4, bits: (0x0A00_0000 | position << 16 | host) << 96)
            : IPAddress(family: .ipv6, bits: 0x2001_0DB8 << 96 | position << 80 | host)
        let flags: NextHopFlags = chance(85) ? .onLink : []
        return .init(interface: try rtnl.index(of: name), gateway: gateway, flags: flags)
    }

    mutating func changeNexthop() throws -> String {
        let id = UInt32.random(in: 1...8, using: &generator)
        if chance(30) {
            try rtnl.deleteNexthop(id)
            return "delete nexthop \(id)"
        }
        var nexthop = NexthopMessage(id: id)
        if id > 6 {
            // Odd objects are IPv4's, even ones IPv6's, and so are the groups of them.
            let members = [1, 3, 5].map { $0 + (id + 1) % 2 }.filter { _ in generator.flip() }
            nexthop.group = members.map { .init(id: $0, weight: UInt16($0)) }
        } else if chance(15) {
            nexthop.family = generator.family()
            nexthop.isBlackhole = true
        } else {
            nexthop.family = id % 2 == 1 ? .ipv4 : .ipv6
            nexthop.nextHop = try nextHop(id % 2 == 1 ? .ipv4 : .ipv6)
            nexthop.nextHop?.flags = .onLink
        }
        if chance(50) { try rtnl.addNexthop(nexthop) } else { try rtnl.replaceNexthop(nexthop) }
        return "nexthop \(nexthop)"
    }

    mutating func changeRule() throws -> String {
        let family = generator.family()
        if chance(40) {
            let listed = try rtnl.rules(family).filter { $0.priority > 0 && $0.priority < 30_000 }
            guard !listed.isEmpty else { throw LabError("no rule", errno: 2) }
            let victim = generator.pick(listed)
            try rtnl.deleteRule(victim)
            return "delete rule \(victim)"
        }
        var rule = RuleMessage(family: family)
        rule.priority = generator.pick([100, 100, 200, 300])
        rule.table = generator.pick([.main, .init(rawValue: 300)])
        rule.mark = generator.pick([.init(value: 0, mask: 0), .init(value: 1, mask: 1), .init(value: 2, mask: 3)])
        if chance(30) { rule.outputInterface = generator.pick(devices) }
        if chance(30) { rule.inputInterface = generator.pick(devices) }
        if chance(30) {
            rule.action = .goto
            rule.table = .unspecified
            rule.gotoPriority = generator.pick([200, 300, 400])
        }
        try rtnl.addRule(rule)
        return "rule \(rule)"
    }

    private static func text(_ route: RouteMessage) -> String {
        let nextHops = route.nextHops.map { "\($0.gateway.map { "\($0)" } ?? "-")%\($0.interface)*\($0.weight)" }
        return "\(route.destination.address)/\(route.destination.length) from /\(route.source.length) "
            + "table \(route.table.rawValue) tos \(route.tos) metric \(route.metric) type \(route.type.rawValue) "
            + "origin \(route.origin) nexthop \(route.nexthopID ?? 0) \(nextHops) "
            + "prefers \(route.preferredSource.map { "\($0)" } ?? "-")"
    }
}
