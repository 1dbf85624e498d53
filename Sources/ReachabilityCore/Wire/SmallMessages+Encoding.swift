extension NexthopMessage {
    /// Appends `struct nhmsg` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family?.rawValue ?? AF.unspec)
        builder.append(bytes: [0, 0, 0])
        builder.append(leg?.flags.rawValue ?? 0)
        builder.attribute(NHA.id, id)
        if isBlackhole { builder.attribute(NHA.blackhole) }
        if isForwardingDatabase { builder.attribute(NHA.fdb) }
        if let leg {
            builder.attribute(NHA.oif, index: leg.interface)
            if let gateway = leg.gateway { builder.attribute(NHA.gateway, gateway) }
        }
        guard !group.isEmpty else { return }
        builder.nested(NHA.group, flagged: false) { list in
            for member in group { member.append(to: &list) }
        }
    }
}

extension NexthopGroupMember {
    /// Appends `struct nexthop_grp`: the weight less 1, its lower byte first.
    fileprivate func append(to list: inout NetlinkMessageBuilder) {
        let value = UInt16(clamping: Int(weight) - 1)
        list.append(id)
        list.append(UInt8(truncatingIfNeeded: value))
        list.append(UInt8(value >> 8))
        list.append(UInt16(0))
    }
}

extension NeighbourMessage {
    /// Appends `struct ndmsg` and the address.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(address.family.rawValue)
        builder.append(bytes: [0, 0, 0])
        builder.append(index)
        builder.append(state.rawValue)
        builder.append(UInt16(0))
        builder.attribute(NDA.dst, address)
    }
}

extension NetconfMessage {
    /// Appends `struct netconfmsg` and the settings.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family.rawValue)
        builder.attribute(NETCONFA.ifindex, index: index)
        if let forwarding { builder.attribute(NETCONFA.forwarding, forwarding ? 1 : 0 as UInt32) }
        if let ignoresRoutesWithLinkDown {
            builder.attribute(NETCONFA.ignoreRoutesWithLinkdown, ignoresRoutesWithLinkDown ? 1 : 0 as UInt32)
        }
    }
}

extension UeventMessage {
    /// The datagram of netlink family 15 that says this, in the kernel's form.
    var datagram: [UInt8] {
        let path = "/class/net/\(interface)"
        var fields = ["\(action.rawValue)@\(path)", "ACTION=\(action.rawValue)", "DEVPATH=\(path)", "SUBSYSTEM=net"]
        fields += ["INTERFACE=\(interface)", "IFINDEX=\(index)"]
        if let deviceType { fields.append("DEVTYPE=\(deviceType)") }
        if let driver { fields.append("DRIVER=\(driver)") }
        if let probe { fields.append("NETWATCH_PROBE=\(probe.text)") }
        return fields.flatMap { Array($0.utf8) + [0] }
    }
}
