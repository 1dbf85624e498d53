/// What one `RTM_NEWRULE` or `RTM_DELRULE` said (ip-rule(8), `include/uapi/linux/fib_rules.h`).
public struct RuleMessage: Sendable, Hashable {
    /// Which family's packets the rule is about.
    public var family: AddressFamily
    /// `FRA_PRIORITY`; lower comes first.
    public var priority: UInt32 = 0
    /// What to do with a packet that matches.
    public var action: RuleAction = .lookup
    /// `FRA_TABLE`, or the header's table where that is missing.
    public var table: RouteTableID = .unspecified
    /// `FRA_SRC` and `src_len`; length 0 is any.
    public var source: IPPrefix
    /// `FRA_DST` and `dst_len`; length 0 is any.
    public var destination: IPPrefix
    /// The header's `tos`; 0 is any.
    public var tos: UInt8 = 0
    /// `FRA_DSCP`, and `FRA_DSCP_MASK` (all six bits where that is missing).
    public var dscp: MaskedValue<UInt8>?
    /// `FRA_FWMARK` and `FRA_FWMASK`.
    public var mark: MaskedValue<UInt32> = .init(value: 0, mask: 0)
    /// `FRA_IIFNAME`; `lo` means packets of this host.
    public var inputInterface: String?
    /// `FRA_OIFNAME`: packets of sockets bound to that interface.
    public var outputInterface: String?
    /// `FRA_SUPPRESS_PREFIXLEN`: an answer no longer than that is not taken; nil for none.
    public var suppressPrefixLength: Int32?
    /// `FRA_SUPPRESS_IFGROUP`: an answer through a device of that group is not taken; nil for none.
    public var suppressInterfaceGroup: UInt32?
    /// `FRA_IP_PROTO`; nil for any.
    public var ipProtocol: UInt8?
    /// `FRA_SPORT_RANGE`.
    public var sourcePorts: PortRange?
    /// `FRA_DPORT_RANGE`.
    public var destinationPorts: PortRange?
    /// `FRA_UID_RANGE`, both ends included.
    public var users: ClosedRange<UInt32>?
    /// `FRA_GOTO`: the priority of the rule to go on with.
    public var gotoPriority: UInt32?
    /// `FRA_L3MDEV`: packets of a VRF's sockets, looked up in the VRF's table.
    public var isL3Master = false
    /// `FRA_TUN_ID`; 0 is any.
    public var tunnelID: UInt64 = 0
    /// `FRA_FLOWLABEL` and its mask.
    public var flowLabel: MaskedValue<UInt32>?
    /// `FRA_PROTOCOL`: who installed it.
    public var origin: UInt8 = 0
    /// `flags`: `FIB_RULE_*`.
    public var flags: RuleFlags = []

    /// Makes a rule that matches everything of a family.
    public init(family: AddressFamily) {
        self.family = family
        self.source = .all(family)
        self.destination = .all(family)
    }
}

/// `FR_ACT_*`.
public struct RuleAction: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes.
    public let rawValue: UInt8
    /// Takes the kernel's number as it is.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `FR_ACT_UNSPEC`.
    public static let unspecified = Self(rawValue: 0)
    /// `FR_ACT_TO_TBL`.
    public static let lookup = Self(rawValue: 1)
    /// `FR_ACT_GOTO`.
    public static let goto = Self(rawValue: 2)
    /// `FR_ACT_NOP`.
    public static let noOperation = Self(rawValue: 3)
    /// `FR_ACT_BLACKHOLE`: EINVAL.
    public static let blackhole = Self(rawValue: 6)
    /// `FR_ACT_UNREACHABLE`: ENETUNREACH.
    public static let unreachable = Self(rawValue: 7)
    /// `FR_ACT_PROHIBIT`: EACCES.
    public static let prohibit = Self(rawValue: 8)
}

/// `FIB_RULE_*` flags.
public struct RuleFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    public let rawValue: UInt32
    /// Takes the kernel's bits as they are.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `FIB_RULE_PERMANENT`.
    public static let permanent = Self(rawValue: 0x01)
    /// `FIB_RULE_INVERT`: the rule applies to what does not match (`ip rule add not …`).
    public static let invert = Self(rawValue: 0x02)
    /// `FIB_RULE_UNRESOLVED`: the target of a goto does not exist.
    public static let unresolved = Self(rawValue: 0x04)
    /// `FIB_RULE_IIF_DETACHED`: the named input interface does not exist.
    public static let inputDetached = Self(rawValue: 0x08)
    /// `FIB_RULE_OIF_DETACHED`: the named output interface does not exist.
    public static let outputDetached = Self(rawValue: 0x10)
    /// `FIB_RULE_FIND_SADDR`: a `from` rule may choose the source first.
    public static let findSource = Self(rawValue: 0x10000)
}

/// A value of which only the mask's bits are compared.
public struct MaskedValue<Bits: FixedWidthInteger & Sendable>: Sendable, Hashable {
    /// The bits to find.
    public var value: Bits
    /// The bits to look at; 0 matches everything.
    public var mask: Bits

    /// Makes a value with its mask.
    public init(value: Bits, mask: Bits) {
        self.value = value
        self.mask = mask
    }

    /// Whether a value has these bits.
    public func matches(_ other: Bits) -> Bool { (value ^ other) & mask == 0 }
}

/// A range of ports, or a masked port (`FRA_SPORT_RANGE`, `FRA_SPORT_MASK` and their like for destinations).
public struct PortRange: Sendable, Hashable {
    /// The first port.
    public var first: UInt16
    /// The last port, included.
    public var last: UInt16
    /// The mask, if the kernel sent one (Linux 6.15): then ``first`` is compared under it.
    public var mask: UInt16?

    /// Makes a range, both ends included.
    public init(first: UInt16, last: UInt16, mask: UInt16? = nil) {
        self.first = first
        self.last = last
        self.mask = mask
    }
}
