extension RuleMessage {
    /// Appends `struct fib_rule_hdr` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family.rawValue)
        builder.append(destination.length)
        builder.append(source.length)
        builder.append(tos)
        builder.append(table.headerValue)
        builder.append(UInt16(0))
        builder.append(action.rawValue)
        builder.append(flags.rawValue)
        builder.attribute(FRA.table, table.rawValue)
        builder.attribute(FRA.priority, priority)
        builder.attribute(FRA.protocol, origin)
        builder.attribute(FRA.suppressPrefixlen, UInt32(bitPattern: suppressPrefixLength ?? -1))
        if let suppressInterfaceGroup { builder.attribute(FRA.suppressIfgroup, suppressInterfaceGroup) }
        if let gotoPriority { builder.attribute(FRA.goto, gotoPriority) }
        if isL3Master { builder.attribute(FRA.l3mdev, 1 as UInt8) }
        if tunnelID != 0 { builder.attribute(FRA.tunID, networkOrder: tunnelID) }
        appendEnds(to: &builder)
        appendMasked(to: &builder)
        appendPorts(to: &builder)
    }

    private func appendEnds(to builder: inout NetlinkMessageBuilder) {
        if !destination.isAny { builder.attribute(FRA.dst, destination.address) }
        if !source.isAny { builder.attribute(FRA.src, source.address) }
        if let inputInterface { builder.attribute(FRA.iifname, string: inputInterface) }
        if let outputInterface { builder.attribute(FRA.oifname, string: outputInterface) }
    }

    private func appendMasked(to builder: inout NetlinkMessageBuilder) {
        if mark.value != 0 { builder.attribute(FRA.fwmark, mark.value) }
        if mark.value != 0 || mark.mask != 0 { builder.attribute(FRA.fwmask, mark.mask) }
        if let dscp {
            builder.attribute(FRA.dscp, dscp.value)
            builder.attribute(FRA.dscpMask, dscp.mask)
        }
        if let flowLabel {
            builder.attribute(FRA.flowlabel, networkOrder: flowLabel.value)
            builder.attribute(FRA.flowlabelMask, networkOrder: flowLabel.mask)
        }
    }

    private func appendPorts(to builder: inout NetlinkMessageBuilder) {
        if let users {
            builder.nested(FRA.uidRange, flagged: false) { range in
                range.append(users.lowerBound)
                range.append(users.upperBound)
            }
        }
        if let ipProtocol { builder.attribute(FRA.ipProto, ipProtocol) }
        if let sourcePorts {
            sourcePorts.append(to: &builder, range: FRA.sportRange, mask: FRA.sportMask)
        }
        if let destinationPorts {
            destinationPorts.append(to: &builder, range: FRA.dportRange, mask: FRA.dportMask)
        }
    }
}

extension PortRange {
    /// Appends `struct fib_rule_port_range` and the mask, if there is one.
    fileprivate func append(to builder: inout NetlinkMessageBuilder, range: UInt16, mask maskType: UInt16) {
        builder.nested(range, flagged: false) { ports in
            ports.append(first)
            ports.append(last)
        }
        if let mask { builder.attribute(maskType, mask) }
    }
}
