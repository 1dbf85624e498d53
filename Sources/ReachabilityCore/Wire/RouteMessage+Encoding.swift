extension RouteMessage {
    /// Appends `struct rtmsg` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family.rawValue)
        builder.append(destination.length)
        builder.append(source.length)
        builder.append(tos)
        builder.append(table.headerValue)
        builder.append(origin)
        builder.append(scope.rawValue)
        builder.append(type.rawValue)
        builder.append(flags)
        builder.attribute(RTA.table, table.rawValue)
        if !destination.isAny { builder.attribute(RTA.dst, destination.address) }
        if !source.isAny { builder.attribute(RTA.src, source.address) }
        if metric != 0 { builder.attribute(RTA.priority, metric) }
        if let preferredSource { builder.attribute(RTA.prefsrc, preferredSource) }
        if let nexthopID { builder.attribute(RTA.nhID, nexthopID) }
        if mark != 0 { builder.attribute(RTA.mark, mark) }
        if family == .ipv6 || preference != .medium { builder.attribute(RTA.pref, preference.rawValue) }
        appendLegs(to: &builder)
        appendLifetime(to: &builder)
    }

    /// Appends the only leg as the route's own attributes, if they can hold it, and otherwise `RTA_MULTIPATH`.
    private func appendLegs(to builder: inout NetlinkMessageBuilder) {
        guard let first = legs.first else { return }
        let isPlain = first.weight == 1 && first.flags.rawValue == flags & LegFlags.ofRoutes
        if legs.count == 1, isPlain, first.interface != 0 || first.gateway != nil {
            if first.interface != 0 { builder.attribute(RTA.oif, index: first.interface) }
            first.appendGateway(of: family, to: &builder)
        } else {
            builder.nested(RTA.multipath, flagged: false) { list in
                for leg in legs { leg.appendEntry(of: family, to: &list) }
            }
        }
    }

    /// Appends `struct rta_cacheinfo`; zero is no lifetime there, so one that has ended is written as just past.
    private func appendLifetime(to builder: inout NetlinkMessageBuilder) {
        guard let lifetime else { return }
        let (seconds, attoseconds) = min(max(lifetime, .zero), .seconds(Int64(Int32.max))).components
        let ticks = Int32(clamping: seconds * 100 + attoseconds / 10_000_000_000_000_000)
        builder.nested(RTA.cacheinfo, flagged: false) { cache in
            cache.append(UInt64(0))
            cache.append(ticks == 0 ? -1 : ticks)
            cache.append(bytes: repeatElement(0, count: 20))
        }
    }
}

extension RouteLeg {
    /// Appends an entry of `RTA_MULTIPATH`: `struct rtnexthop` and the leg's attributes.
    fileprivate func appendEntry(of family: AddressFamily, to list: inout NetlinkMessageBuilder) {
        list.record { entry in
            entry.append(UInt8(truncatingIfNeeded: flags.rawValue))
            entry.append(UInt8(clamping: Int(weight) - 1))
            entry.append(interface)
            appendGateway(of: family, to: &entry)
        }
    }

    /// Appends `RTA_GATEWAY`, or `RTA_VIA` if the gateway is of another family than the route.
    fileprivate func appendGateway(of family: AddressFamily, to builder: inout NetlinkMessageBuilder) {
        guard let gateway else { return }
        guard gateway.family != family else { return builder.attribute(RTA.gateway, gateway) }
        builder.nested(RTA.via, flagged: false) { via in
            via.append(UInt16(gateway.family.rawValue))
            via.append(gateway)
        }
    }
}

extension RouteTableID {
    /// What the head's eight bits say of the table: `RT_TABLE_COMPAT` where they can't hold it.
    var headerValue: UInt8 { UInt8(exactly: rawValue) ?? 252 }
}

extension IPPrefix {
    /// Whether nothing is said by an attribute with the address.
    var isAny: Bool { length == 0 && address.isUnspecified }
}
