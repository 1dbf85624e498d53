/// The content of an `RTM_NEWRULE` or `RTM_DELRULE` message (ip-rule(8), `include/uapi/linux/fib_rules.h`).
package struct RuleMessage: Sendable, Hashable {
    /// The address family of the packets that the rule applies to.
    package var family: AddressFamily
    /// `FRA_PRIORITY`; lower comes first.
    package var priority: UInt32 = 0
    /// The action for a packet that matches.
    package var action: RuleAction = .lookup
    /// `FRA_TABLE`, or the header's table if that is missing.
    package var table: RouteTableID = .unspecified
    /// `FRA_SRC` and `src_len`; length 0 matches any.
    package var source: IPPrefix
    /// `FRA_DST` and `dst_len`; length 0 matches any.
    package var destination: IPPrefix
    /// The header's `tos`; 0 matches any.
    package var tos: UInt8 = 0
    /// `FRA_DSCP` and `FRA_DSCP_MASK` (all six bits if that is missing).
    package var dscp: MaskedValue<UInt8>?
    /// `FRA_FWMARK` and `FRA_FWMASK`.
    package var mark: MaskedValue<UInt32> = .init(value: 0, mask: 0)
    /// `FRA_IIFNAME`; `lo` matches packets of this host.
    package var inputInterface: String?
    /// `FRA_OIFNAME`: packets of sockets bound to that interface.
    package var outputInterface: String?
    /// `FRA_SUPPRESS_PREFIXLEN`: routes with a prefix of at most this length are not used; nil for none.
    package var suppressPrefixLength: Int32?
    /// `FRA_SUPPRESS_IFGROUP`: routes through a device of this group are not used; nil for none.
    package var suppressInterfaceGroup: UInt32?
    /// `FRA_IP_PROTO`; nil for any.
    package var ipProtocol: UInt8?
    /// `FRA_SPORT_RANGE`.
    package var sourcePorts: PortRange?
    /// `FRA_DPORT_RANGE`.
    package var destinationPorts: PortRange?
    /// `FRA_UID_RANGE`, inclusive.
    package var users: ClosedRange<UInt32>?
    /// `FRA_GOTO`: the priority of the rule to continue with.
    package var gotoPriority: UInt32?
    /// `FRA_L3MDEV`: packets of a VRF's sockets, looked up in the VRF's table.
    package var isL3Master = false
    /// `FRA_TUN_ID`; 0 matches any.
    package var tunnelID: UInt64 = 0
    /// `FRA_FLOWLABEL` and its mask.
    package var flowLabel: MaskedValue<UInt32>?
    /// `FRA_PROTOCOL`: the program that installed the rule.
    package var origin: UInt8 = 0
    /// `flags`: `FIB_RULE_*`.
    package var flags: RuleFlags = []

    /// Creates a rule that matches all packets of a family.
    package init(family: AddressFamily) {
        self.family = family
        self.source = .all(family)
        self.destination = .all(family)
    }
}

/// `FR_ACT_*`.
package struct RuleAction: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes.
    package let rawValue: UInt8
    /// Creates a value from the kernel's number.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `FR_ACT_UNSPEC`.
    package static let unspecified = Self(rawValue: 0)
    /// `FR_ACT_TO_TBL`.
    package static let lookup = Self(rawValue: 1)
    /// `FR_ACT_GOTO`.
    package static let goto = Self(rawValue: 2)
    /// `FR_ACT_NOP`.
    package static let noOperation = Self(rawValue: 3)
    /// `FR_ACT_BLACKHOLE`: EINVAL.
    package static let blackhole = Self(rawValue: 6)
    /// `FR_ACT_UNREACHABLE`: ENETUNREACH.
    package static let unreachable = Self(rawValue: 7)
    /// `FR_ACT_PROHIBIT`: EACCES.
    package static let prohibit = Self(rawValue: 8)
}

/// `FIB_RULE_*` flags.
package struct RuleFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    package let rawValue: UInt32
    /// Creates flags from the kernel's bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `FIB_RULE_INVERT`: the rule applies to packets that do not match (`ip rule add not …`).
    package static let invert = Self(rawValue: 0x02)
    /// `FIB_RULE_UNRESOLVED`: the target of a goto does not exist.
    package static let unresolved = Self(rawValue: 0x04)
    /// `FIB_RULE_IIF_DETACHED`: the named input interface does not exist.
    package static let inputDetached = Self(rawValue: 0x08)
    /// `FIB_RULE_OIF_DETACHED`: the named output interface does not exist.
    package static let outputDetached = Self(rawValue: 0x10)
    /// `FIB_RULE_FIND_SADDR`: a `from` rule may select the source first.
    package static let findSource = Self(rawValue: 0x10000)
}

/// A value that is compared under a mask.
package struct MaskedValue<Bits: FixedWidthInteger & Sendable>: Sendable, Hashable {
    /// The bits to compare with.
    package var value: Bits
    /// The bits that are compared; 0 matches everything.
    package var mask: Bits

    /// Creates a masked value.
    package init(value: Bits, mask: Bits) {
        self.value = value
        self.mask = mask
    }

    /// Returns whether a value has these bits.
    package func matches(_ other: Bits) -> Bool { (value ^ other) & mask == 0 }
}

/// A range of ports, or a masked port (`FRA_SPORT_RANGE`, `FRA_SPORT_MASK`, `FRA_DPORT_RANGE`, `FRA_DPORT_MASK`).
package struct PortRange: Sendable, Hashable {
    /// The first port.
    package var first: UInt16
    /// The last port, inclusive.
    package var last: UInt16
    /// The mask under which ``first`` is compared, if the kernel sent one (Linux 6.15).
    package var mask: UInt16?

    /// Creates a range; both ends are inclusive.
    package init(first: UInt16, last: UInt16, mask: UInt16? = nil) {
        self.first = first
        self.last = last
        self.mask = mask
    }
}

// MARK: - Decoding

extension RuleMessage {
    /// `sizeof(struct fib_rule_hdr)`.
    static let bodySize = 12

    /// Decodes the payload of an `RTM_NEWRULE` or `RTM_DELRULE` message.
    ///
    /// Returns nil for a family other than IPv4 and IPv6.
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
        var masks = MaskedAttributes()
        var cursor = body.attributes(after: Self.bodySize)
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

    private mutating func readSelector(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
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
    /// Returns the payload as `struct fib_rule_uid_range`, or nil for the whole range, which matches any user.
    fileprivate func users(_ bytes: RawSpan) throws(NetlinkDecodeError) -> ClosedRange<UInt32>? {
        try require(8, "FRA_UID_RANGE")
        let first: UInt32 = payload.load(0, bytes)
        let last: UInt32 = payload.load(4, bytes)
        guard first <= last else { throw .init(.invalidRange("FRA_UID_RANGE"), at: payload.start - 4) }
        return first == 0 && last == .max ? nil : first...last
    }

    /// Returns the payload as `struct fib_rule_port_range`.
    fileprivate func ports(_ bytes: RawSpan, _ name: String) throws(NetlinkDecodeError) -> PortRange {
        try require(4, name)
        return .init(first: payload.load(0, bytes), last: payload.load(2, bytes))
    }
}

/// Values whose mask comes in an attribute of its own, in either order.
private struct MaskedAttributes {
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

    /// Reads an attribute; returns false if it is neither such a value nor a mask.
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

    /// Sets a rule's masked values, with the kernel's defaults for missing masks.
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
    /// Adds the mask that the kernel sent to a range; 0 means none.
    fileprivate init(_ range: Self, mask: UInt16?) {
        self.init(first: range.first, last: range.last, mask: mask == 0 ? nil : mask)
    }
}

// MARK: - Encoding

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
    /// Appends `struct fib_rule_port_range`, and the mask if there is one.
    fileprivate func append(to builder: inout NetlinkMessageBuilder, range: UInt16, mask maskType: UInt16) {
        builder.nested(range, flagged: false) { ports in
            ports.append(first)
            ports.append(last)
        }
        if let mask { builder.attribute(maskType, mask) }
    }
}

// MARK: - Numbers

/// `FRA_*`: attributes of rules (`fib_rules.h`, to Linux 6.15).
private enum FRA {
    static let dst: UInt16 = 1
    static let src: UInt16 = 2
    static let iifname: UInt16 = 3
    static let goto: UInt16 = 4
    static let priority: UInt16 = 6
    static let fwmark: UInt16 = 10
    static let tunID: UInt16 = 12
    static let suppressIfgroup: UInt16 = 13
    static let suppressPrefixlen: UInt16 = 14
    static let table: UInt16 = 15
    static let fwmask: UInt16 = 16
    static let oifname: UInt16 = 17
    static let l3mdev: UInt16 = 19
    static let uidRange: UInt16 = 20
    static let `protocol`: UInt16 = 21
    static let ipProto: UInt16 = 22
    static let sportRange: UInt16 = 23
    static let dportRange: UInt16 = 24
    static let dscp: UInt16 = 25
    static let flowlabel: UInt16 = 26
    static let flowlabelMask: UInt16 = 27
    static let sportMask: UInt16 = 28
    static let dportMask: UInt16 = 29
    static let dscpMask: UInt16 = 30
}
