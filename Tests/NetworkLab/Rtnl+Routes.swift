package import ReachabilityCore

/// An operation on a route; the kernel's flags, as ip-route(8) uses them.
package enum RouteVerb: Sendable, CaseIterable {
    /// `NLM_F_CREATE | NLM_F_EXCL`.
    case add
    /// `NLM_F_CREATE | NLM_F_APPEND`.
    case append
    /// `NLM_F_CREATE`: before others of the same metric.
    case prepend
    /// `NLM_F_CREATE | NLM_F_REPLACE`.
    case replace
    /// `NLM_F_REPLACE`: only if there is one.
    case change
    /// `RTM_DELROUTE`: the first one that matches what is given.
    case delete

    fileprivate var flags: NetlinkFlags {
        switch self {
        case .add: [.create, .exclusive]
        case .append: [.create, .append]
        case .prepend: .create
        case .replace: [.create, .replace]
        case .change: .replace
        case .delete: []
        }
    }
}

// MARK: - Routes

extension Rtnl {
    /// Adds, changes or removes a route.
    ///
    /// A route's ``RouteMessage/lifetime`` is given to the kernel in whole seconds (`RTA_EXPIRES`, IPv6 only); its
    /// ``RouteMessage/flags`` are not, but those of its next hops are.
    package func route(_ verb: RouteVerb, _ route: RouteMessage) throws(LabError) {
        try perform(.route(verb, route))
    }

    /// Adds a route, written as for ip-route(8): a prefix or `default`, a gateway, a link.
    ///
    /// `default` is of the gateway's family; without a gateway, of `family`.
    package func addRoute(
        _ destination: String,
        via gateway: String? = nil,
        on interface: String,
        metric: UInt32 = 0,
        table: RouteTableID = .main,
        family: AddressFamily = .ipv4
    ) throws(LabError) {
        let route = try message(destination, gateway, interface, metric, table, family)
        try self.route(.add, route)
    }

    /// Removes a route, written as for ``addRoute(_:via:on:metric:table:family:)``.
    package func deleteRoute(
        _ destination: String,
        via gateway: String? = nil,
        on interface: String,
        metric: UInt32 = 0,
        table: RouteTableID = .main,
        family: AddressFamily = .ipv4
    ) throws(LabError) {
        let route = try message(destination, gateway, interface, metric, table, family)
        try self.route(.delete, route)
    }

    // swift-format-ignore: the arguments are those of the two functions above
    private func message(
        _ destination: String,
        _ gateway: String?,
        _ interface: String,
        _ metric: UInt32,
        _ table: RouteTableID,
        _ family: AddressFamily
    ) throws(LabError) -> RouteMessage {
        var address: IPAddress?
        if let gateway { address = try IPPrefix(labText: gateway).address }
        let prefix = try IPPrefix(labText: destination, family: address?.family ?? family)
        var route = RouteMessage(destination: prefix, table: table)
        route.metric = metric
        route.nextHops = [.init(interface: try index(of: interface), gateway: address)]
        return route
    }
}

extension RtnlRequest {
    /// `RTM_NEWROUTE` or `RTM_DELROUTE`, for ``Rtnl/perform(_:)-([RtnlRequest])``.
    package static func route(_ verb: RouteVerb, _ route: RouteMessage) -> Self {
        let type = verb == .delete ? RTM.delRoute : RTM.newRoute
        let description = "\(verb) route \(route.destination) table \(route.table.rawValue) metric \(route.metric)"
        return RtnlRequest(description, type: type, flags: verb.flags) { builder in
            builder.routeHeader(route, verb)
            builder.routeAttributes(route)
            builder.nextHops(route)
        }
    }
}

extension NetlinkMessageBuilder {
    /// `RTPROT_BOOT`, which ip-route(8) gives to a route for which nothing else is said.
    private static var defaultOrigin: UInt8 { 3 }
    /// `RT_TABLE_COMPAT`: the number is in `RTA_TABLE`.
    private static var otherTable: UInt8 { 252 }

    /// `struct rtmsg`.
    ///
    /// Deleting names no scope (`RT_SCOPE_NOWHERE`), and an origin only if there is one, so that any matches.
    fileprivate mutating func routeHeader(_ route: RouteMessage, _ verb: RouteVerb) {
        append(route.family.rawValue)
        append(route.destination.length)
        append(route.source.length)
        append(route.tos)
        append(UInt8(exactly: route.table.rawValue) ?? Self.otherTable)
        append(route.origin == 0 && verb != .delete ? Self.defaultOrigin : route.origin)
        append(verb == .delete ? RouteScope.nowhere.rawValue : route.scope.rawValue)
        append(route.type.rawValue)
        append(route.nextHops.count == 1 ? route.nextHops[0].flags.rawValue : 0)
    }

    fileprivate mutating func routeAttributes(_ route: RouteMessage) {
        if route.destination.length > 0 { attribute(RTA.dst, route.destination.address) }
        if route.source.length > 0 { attribute(RTA.src, route.source.address) }
        attribute(RTA.table, route.table.rawValue)
        if route.metric != 0 { attribute(RTA.priority, route.metric) }
        if let source = route.preferredSource { attribute(RTA.prefsrc, source) }
        if route.preference != .medium { attribute(RTA.pref, route.preference.rawValue) }
        if let lifetime = route.lifetime { attribute(RTA.expires, UInt32(clamping: lifetime.components.seconds)) }
        if let id = route.nexthopID { attribute(RTA.nhID, id) }
    }

    /// One next hop is told by attributes of the route, several by `RTA_MULTIPATH`.
    fileprivate mutating func nextHops(_ route: RouteMessage) {
        guard route.nextHops.count > 1 else {
            guard let nextHop = route.nextHops.first else { return }
            if nextHop.interface != 0 { attribute(RTA.oif, index: nextHop.interface) }
            gateway(nextHop, of: route.family)
            return
        }
        nested(RTA.multipath, flagged: false) { builder in
            for nextHop in route.nextHops { builder.record { $0.entry(nextHop, of: route.family) } }
        }
    }

    /// `struct rtnexthop`, behind its length.
    private mutating func entry(_ nextHop: NextHop, of family: AddressFamily) {
        append(UInt8(truncatingIfNeeded: nextHop.flags.rawValue))
        append(UInt8(clamping: Int(nextHop.weight) - 1))
        append(nextHop.interface)
        gateway(nextHop, of: family)
    }

    /// `RTA_GATEWAY`, or `RTA_VIA` with `struct rtvia` for a gateway of the other family.
    private mutating func gateway(_ nextHop: NextHop, of family: AddressFamily) {
        guard let gateway = nextHop.gateway else { return }
        guard gateway.family != family else { return attribute(RTA.gateway, gateway) }
        nested(RTA.via, flagged: false) { via in
            via.append(UInt16(gateway.family.rawValue))
            via.append(gateway)
        }
    }
}
