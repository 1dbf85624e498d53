extension RuleMessage {
    /// `sizeof(struct fib_rule_hdr)`.
    static let bodySize = 12

    /// Reads the payload of an `RTM_NEWRULE` or `RTM_DELRULE`; nil if it is of another family than IPv4 and IPv6.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        guard let family = AddressFamily(rawValue: body.byte(0, bytes)) else { return nil }
        self.init(family: family)
        destination = .init(destination.address, length: try body.prefixLength(1, family, bytes, "dst_len"))
        source = .init(source.address, length: try body.prefixLength(2, family, bytes, "src_len"))
        tos = body.byte(3, bytes)
        table = .init(rawValue: UInt32(body.byte(4, bytes)))
        action = .init(rawValue: body.byte(7, bytes))
        flags = .init(rawValue: body.load(8, bytes))
        var masks = Masks()
        var cursor = body.attributes(behind: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            if try !masks.read(attribute, bytes) { try read(attribute, bytes) }
        }
        masks.complete(&self)
    }

    private mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        switch attribute.type {
        case FRA.dst: destination = .init(try attribute.address(family, bytes, "FRA_DST"), length: destination.length)
        case FRA.src: source = .init(try attribute.address(family, bytes, "FRA_SRC"), length: source.length)
        case FRA.iifname: inputInterface = attribute.text(bytes)
        case FRA.oifname: outputInterface = attribute.text(bytes)
        case FRA.goto: gotoPriority = try attribute.integer(bytes, "FRA_GOTO")
        case FRA.priority: priority = try attribute.integer(bytes, "FRA_PRIORITY")
        case FRA.tunID: tunnelID = try attribute.bigEndian(bytes, "FRA_TUN_ID")
        case FRA.table: table = .init(rawValue: try attribute.integer(bytes, "FRA_TABLE"))
        case FRA.l3mdev: isL3Master = try attribute.integer(bytes, "FRA_L3MDEV") != (0 as UInt8)
        case FRA.protocol: origin = try attribute.integer(bytes, "FRA_PROTOCOL")
        default: try readSelector(attribute, bytes)
        }
    }

    private mutating func readSelector(
        _ attribute: NetlinkAttribute,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        switch attribute.type {
        case FRA.suppressPrefixlen:
            let length: Int32 = try attribute.integer(bytes, "FRA_SUPPRESS_PREFIXLEN")
            suppressPrefixLength = length < 0 ? nil : length
        case FRA.suppressIfgroup:
            let group: UInt32 = try attribute.integer(bytes, "FRA_SUPPRESS_IFGROUP")
            suppressInterfaceGroup = group == .max ? nil : group
        case FRA.ipProto:
            let number: UInt8 = try attribute.integer(bytes, "FRA_IP_PROTO")
            ipProtocol = number == 0 ? nil : number
        case FRA.uidRange: users = try attribute.users(bytes)
        default: break
        }
    }
}

extension NetlinkAttribute {
    /// The payload as `struct fib_rule_uid_range`; nil for the whole range, which stands for anyone.
    fileprivate func users(_ bytes: RawSpan) throws(NetlinkDecodeError) -> ClosedRange<UInt32>? {
        try require(8, "FRA_UID_RANGE")
        let first: UInt32 = payload.load(0, bytes)
        let last: UInt32 = payload.load(4, bytes)
        guard first <= last else { throw .init(.invalidRange("FRA_UID_RANGE"), at: payload.start - 4) }
        return first == 0 && last == .max ? nil : first...last
    }

    /// The payload as `struct fib_rule_port_range`.
    fileprivate func ports(_ bytes: RawSpan, _ name: String) throws(NetlinkDecodeError) -> PortRange {
        try require(4, name)
        return .init(first: payload.load(0, bytes), last: payload.load(2, bytes))
    }
}

/// Collects what comes in two attributes, a value and its mask, in whichever order.
private struct Masks {
    private var mark: UInt32?
    private var markMask: UInt32?
    private var dscp: UInt8?
    private var dscpMask: UInt8?
    private var flowLabel: UInt32?
    private var flowLabelMask: UInt32?
    private var sourcePorts: PortRange?
    private var sourcePortMask: UInt16?
    private var destinationPorts: PortRange?
    private var destinationPortMask: UInt16?

    /// Takes an attribute that is a value or a mask; false for another.
    mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) -> Bool {
        switch attribute.type {
        case FRA.fwmark: mark = try attribute.integer(bytes, "FRA_FWMARK")
        case FRA.fwmask: markMask = try attribute.integer(bytes, "FRA_FWMASK")
        case FRA.dscp: dscp = try attribute.integer(bytes, "FRA_DSCP")
        case FRA.dscpMask: dscpMask = try attribute.integer(bytes, "FRA_DSCP_MASK")
        case FRA.flowlabel: flowLabel = try attribute.bigEndian(bytes, "FRA_FLOWLABEL")
        case FRA.flowlabelMask: flowLabelMask = try attribute.bigEndian(bytes, "FRA_FLOWLABEL_MASK")
        case FRA.sportRange: sourcePorts = try attribute.ports(bytes, "FRA_SPORT_RANGE")
        case FRA.sportMask: sourcePortMask = try attribute.integer(bytes, "FRA_SPORT_MASK")
        case FRA.dportRange: destinationPorts = try attribute.ports(bytes, "FRA_DPORT_RANGE")
        case FRA.dportMask: destinationPortMask = try attribute.integer(bytes, "FRA_DPORT_MASK")
        default: return false
        }
        return true
    }

    /// Sets a rule's masked values; a mask that is missing is what the kernel takes then.
    func complete(_ rule: inout RuleMessage) {
        let allIfSet: UInt32 = (mark ?? 0) == 0 ? 0 : .max
        rule.mark = .init(value: mark ?? 0, mask: markMask ?? allIfSet)
        rule.dscp = dscp.map { .init(value: $0, mask: dscpMask ?? 0x3F) }
        rule.flowLabel = flowLabel.map { .init(value: $0, mask: flowLabelMask ?? 0xF_FFFF) }
        rule.sourcePorts = sourcePorts.map { .init($0, mask: sourcePortMask) }
        rule.destinationPorts = destinationPorts.map { .init($0, mask: destinationPortMask) }
    }
}

extension PortRange {
    /// Makes a range with the mask that the kernel sent; 0 stands for none.
    fileprivate init(_ range: Self, mask: UInt16?) {
        self.init(first: range.first, last: range.last, mask: mask == 0 ? nil : mask)
    }
}
