/// What one `RTM_NEWNEIGH` or `RTM_DELNEIGH` said (rtnetlink(7), `include/uapi/linux/neighbour.h`).
public struct NeighbourMessage: Sendable, Hashable {
    /// `ndm_ifindex`.
    public var index: InterfaceIndex
    /// `NDA_DST`.
    public var address: IPAddress
    /// `ndm_state`.
    public var state: NeighbourState

    /// Makes a message.
    public init(index: InterfaceIndex, address: IPAddress, state: NeighbourState) {
        self.index = index
        self.address = address
        self.state = state
    }
}

/// `NUD_*` (RFC 4861, 7.3.2; arp(7)).
public struct NeighbourState: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    public let rawValue: UInt16
    /// Takes the kernel's bits as they are.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `NUD_INCOMPLETE`.
    public static let incomplete = Self(rawValue: 0x01)
    /// `NUD_REACHABLE`.
    public static let reachable = Self(rawValue: 0x02)
    /// `NUD_STALE`.
    public static let stale = Self(rawValue: 0x04)
    /// `NUD_DELAY`.
    public static let delay = Self(rawValue: 0x08)
    /// `NUD_PROBE`.
    public static let probe = Self(rawValue: 0x10)
    /// `NUD_FAILED`.
    public static let failed = Self(rawValue: 0x20)
    /// `NUD_NOARP`.
    public static let noARP = Self(rawValue: 0x40)
    /// `NUD_PERMANENT`.
    public static let permanent = Self(rawValue: 0x80)
    /// `NUD_VALID` of the kernel: has a usable link-layer address.
    public static let valid: Self = [.permanent, .noARP, .reachable, .probe, .stale, .delay]
}
