import NetworkLab
import ReachabilityCore

extension OracleStory {
    /// Adds, changes or removes a route.
    mutating func changeRoutes() throws {
        let present = routes
        if present.count > 24 || dice.once(in: 4), let route = present.isEmpty ? nil : dice.pick(present) {
            return remove(route)
        }
        let family = dice.pick(AddressFamily.allCases)
        let table = dice.pick(Self.tables)
        var route = RouteMessage(destination: drawDestination(family, in: table), table: table)
        var names: [String] = []
        if route.destination.length > 0 {
            names.append(route.destination.length <= 1 ? "route half" : "route eighth")
        }
        if mayBeSourceSpecific(route), dice.once(in: 2) {
            route.source = .init(lab: dice.pick(["2001:db8:1::/64", "2001:db8::/32", "fd00::/8", "::/1"]))
            names.append("route source-specific")
        }
        names += drawRoute(&route)
        let verb = drawVerb(route)
        let copy = route
        attempt("route \(verb) \(copy.line)", covering: names) { [world] in try world.rtnl.route(verb, copy) }
    }

    private mutating func remove(_ route: RouteMessage) {
        var route = route
        if route.nexthopID != nil { route.nextHops = [] }
        let copy = route
        attempt("route del \(copy.line)") { [world] in try world.rtnl.route(.delete, copy) }
    }

    /// The kernel no longer finds source-specific routes of a destination with longer prefixes below it when the
    /// destination's other routes are removed (`fib6_find_prefix` takes a leaf of the longer one): so they are drawn
    /// only for the default route, which is not affected, and for prefixes without longer ones.
    private func mayBeSourceSpecific(_ route: RouteMessage) -> Bool {
        guard route.family == .ipv6 else { return false }
        return route.destination.length == 0 || (route.destination.length == 3 && route.table.rawValue == 1_000)
    }

    private mutating func drawDestination(_ family: AddressFamily, in table: RouteTableID) -> IPPrefix {
        guard dice.once(in: 3) else { return .all(family) }
        if family == .ipv6, table.rawValue == 1_000 { return .init(lab: dice.pick(["2000::/3", "2000::/3", "::/1"])) }
        let ipv4 = ["0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/3", "192.0.0.0/3", "192.0.0.0/2", "16.0.0.0/4", "208.0.0.0/4"]
        let ipv6 = ["2000::/3", "2000::/3", "::/1", "2000::/4", "3000::/4", "::/2"]
        return .init(lab: dice.pick(family == .ipv4 ? ipv4 : ipv6))
    }

    /// The kernel's dump leaves out routes between the next hops of an IPv6 multipath route, so there must be none:
    /// gateways join at metrics 100 and 200 only, and routes that cannot join have others; at 300 each is alone.
    private mutating func drawVerb(_ route: RouteMessage) -> RouteVerb {
        guard route.family == .ipv6 else { return dice.pick([.add, .append, .append, .prepend, .replace]) }
        return route.metric == 300 ? dice.pick([.add, .replace]) : dice.pick([.add, .append, .append, .replace])
    }

    private mutating func drawRoute(_ route: inout RouteMessage) -> [String] {
        switch dice.roll(0...19) {
        case 0..<3:
            let (type, name) = dice.pick(Self.refusals)
            route.type = type
            route.metric = dice.pick([300, 400, 500])
            return ["route \(name)"]
        case 3: return drawLocal(&route)
        case 4..<7: return drawMultipath(&route)
        case 7..<10: return drawNexthop(&route)
        case 10, 11: return drawDirect(&route)
        default: return drawGateway(&route)
        }
    }

    private static let refusals: [(RouteType, String)] = [
        (.blackhole, "blackhole"), (.unreachable, "unreachable"), (.prohibit, "prohibit"), (.throw, "throw"),
    ]

    private mutating func drawLocal(_ route: inout RouteMessage) -> [String] {
        route.type = .local
        route.scope = .host
        route.metric = dice.pick([300, 400])
        route.nextHops = [.init(interface: world.index(of: dice.pick(["lo", "lo", "eth1"])))]
        return ["route local"]
    }

    private mutating func drawDirect(_ route: inout RouteMessage) -> [String] {
        route.scope = route.family == .ipv4 ? .link : .universe
        route.metric = dice.pick([300, 400, 500])
        route.nextHops = [.init(interface: world.index(of: dice.pick(OracleWorld.interfaces)))]
        drawPreference(&route)
        return ["route unicast"]
    }

    private mutating func drawGateway(_ route: inout RouteMessage) -> [String] {
        route.metric = dice.pick([0, 100, 100, 200, 300, 300])
        if route.family == .ipv6, route.metric == 0 { route.metric = 100 }
        route.nextHops = [drawNextHop(route.family)]
        drawPreference(&route)
        guard route.family == .ipv6, route.metric == 300, !dice.once(in: 4) else { return ["route unicast"] }
        // None expires during a story: the time would differ between runs of the same seed.
        route.lifetime = .seconds(600)
        return ["route unicast", "route expires"]
    }

    private mutating func drawMultipath(_ route: inout RouteMessage) -> [String] {
        route.metric = dice.pick([100, 200])
        let bareIndex = world.index(of: OracleWorld.bareCable)
        while route.nextHops.count < 2 || (route.nextHops.count < 3 && dice.once(in: 2)) {
            let nextHop = drawNextHop(route.family)
            if route.family == .ipv6 || nextHop.interface != bareIndex { route.nextHops.append(nextHop) }
        }
        drawPreference(&route)
        return ["route unicast", "route multipath"]
    }

    private mutating func drawNexthop(_ route: inout RouteMessage) -> [String] {
        route.metric = dice.pick([300, 400, 500])
        let ids = snapshot.nexthops.keys.sorted()
        route.nexthopID = ids.isEmpty ? 1 : dice.pick(ids)
        // The kernel replies with the route that it has cached for the object, possibly with another prefix and table.
        if route.family == .ipv6 {
            route.destination = .all(.ipv6)
            route.source = .all(.ipv6)
            route.table = .main
        }
        return ["route unicast", "route nexthop"]
    }

    /// Sometimes sets a router's preference, and a source address of the machine's.
    ///
    /// Of an IPv6 multipath route the kernel reports those of the first next hop only, so next hops that join have
    /// none.
    private mutating func drawPreference(_ route: inout RouteMessage) {
        guard route.family == .ipv4 || route.metric >= 300 else { return }
        if route.family == .ipv6, dice.once(in: 4) { route.preference = dice.pick([.low, .high]) }
        let own = addresses.filter { $0.address.family == route.family && !$0.address.isLinkLocal }
        if !own.isEmpty, dice.once(in: 5) { route.preferredSource = dice.pick(own).address }
    }

    /// A next hop through a gateway, which is treated as on the link.
    mutating func drawNextHop(_ family: AddressFamily) -> NextHop {
        let name = dice.pick(OracleWorld.cables)
        let ending = dice.pick(["8", "9"])
        let linkLocal = IPAddress("fe80::\(ending)")
        var gateway = IPAddress("10.0.\(OracleWorld.number(of: name)).\(ending)")
        // IPv4 through an IPv6 gateway (RFC 5549) too; without carrier the kernel forgets to mark such a next hop so.
        if family == .ipv6 || (dice.once(in: 8) && world.hasCarrier(name)) { gateway = linkLocal }
        return .init(interface: world.index(of: name), gateway: gateway, weight: dice.roll(1...3), flags: .onLink)
    }
}
