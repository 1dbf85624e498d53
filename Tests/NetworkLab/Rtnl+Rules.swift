package import ReachabilityCore

// MARK: - Rules (ip-rule(8))

extension Rtnl {
    /// Adds a rule, with every selector and action that the message holds.
    ///
    /// In a user namespace the kernel takes only user ids that are mapped there: after `unshare -r`, 0 alone.
    package func addRule(_ rule: RuleMessage) throws(LabError) {
        try perform(.rule(rule, type: RTM.newRule, flags: [.create, .exclusive], "add"))
    }

    /// Removes the first rule that has the same selectors and action.
    package func deleteRule(_ rule: RuleMessage) throws(LabError) {
        try perform(.rule(rule, type: RTM.delRule, flags: [], "delete"))
    }
}

extension RtnlRequest {
    /// `RTM_NEWRULE` or `RTM_DELRULE`.
    fileprivate static func rule(_ rule: RuleMessage, type: UInt16, flags: NetlinkFlags, _ verb: String) -> Self {
        let description = "\(verb) rule \(rule.family) priority \(rule.priority)"
        return RtnlRequest(description, type: type, flags: flags) { builder in
            builder.ruleHeader(rule)
            builder.attribute(FRA.priority, rule.priority)
            builder.attribute(FRA.table, rule.table.rawValue)
            builder.ruleAddresses(rule)
            builder.ruleAction(rule)
            builder.ruleSelectors(rule)
            builder.ruleFlow(rule)
        }
    }
}

extension NetlinkMessageBuilder {
    /// `struct fib_rule_hdr`.
    ///
    /// Only flags that user space may set are sent: the kernel refuses none, and keeps all of them.
    fileprivate mutating func ruleHeader(_ rule: RuleMessage) {
        append(rule.family.rawValue)
        append(rule.destination.length)
        append(rule.source.length)
        append(rule.tos)
        append(UInt8(exactly: rule.table.rawValue) ?? 252)
        append(UInt8(0))
        append(UInt8(0))
        append(rule.action.rawValue)
        append(rule.flags.intersection([.invert, .findSource]).rawValue)
    }

    fileprivate mutating func ruleAddresses(_ rule: RuleMessage) {
        if rule.destination.length > 0 { attribute(FRA.dst, rule.destination.address) }
        if rule.source.length > 0 { attribute(FRA.src, rule.source.address) }
    }

    fileprivate mutating func ruleAction(_ rule: RuleMessage) {
        if let priority = rule.gotoPriority { attribute(FRA.goto, priority) }
        if let length = rule.suppressPrefixLength { attribute(FRA.suppressPrefixlen, UInt32(bitPattern: length)) }
        if let group = rule.suppressInterfaceGroup { attribute(FRA.suppressIfgroup, group) }
        if rule.isL3Master { attribute(FRA.l3mdev, UInt8(1)) }
        if rule.origin != 0 { attribute(FRA.protocol, rule.origin) }
    }

    fileprivate mutating func ruleSelectors(_ rule: RuleMessage) {
        if rule.mark.mask != 0 {
            attribute(FRA.fwmark, rule.mark.value)
            attribute(FRA.fwmask, rule.mark.mask)
        }
        if let name = rule.inputInterface { attribute(FRA.iifname, string: name) }
        if let name = rule.outputInterface { attribute(FRA.oifname, string: name) }
        if let users = rule.users {
            nested(FRA.uidRange, flagged: false) { range in
                range.append(users.lowerBound)
                range.append(users.upperBound)
            }
        }
        if rule.tunnelID != 0 { attribute(FRA.tunID, networkOrder: rule.tunnelID) }
    }

    fileprivate mutating func ruleFlow(_ rule: RuleMessage) {
        if let dscp = rule.dscp {
            attribute(FRA.dscp, dscp.value)
            if dscp.mask != 0x3F { attribute(FRA.dscpMask, dscp.mask) }
        }
        if let number = rule.ipProtocol { attribute(FRA.ipProto, number) }
        if let ports = rule.sourcePorts { self.ports(ports, FRA.sportRange, mask: FRA.sportMask) }
        if let ports = rule.destinationPorts { self.ports(ports, FRA.dportRange, mask: FRA.dportMask) }
        if let label = rule.flowLabel {
            attribute(FRA.flowlabel, networkOrder: label.value)
            attribute(FRA.flowlabelMask, networkOrder: label.mask)
        }
    }

    /// `struct fib_rule_port_range`, and the mask if there is one.
    private mutating func ports(_ ports: PortRange, _ type: UInt16, mask maskType: UInt16) {
        nested(type, flagged: false) { range in
            range.append(ports.first)
            range.append(ports.last)
        }
        if let mask = ports.mask { attribute(maskType, mask) }
    }
}
