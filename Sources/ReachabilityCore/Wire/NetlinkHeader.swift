/// The header of a netlink message: `struct nlmsghdr` (netlink(7)).
public struct NetlinkHeader: Sendable, Hashable {
    /// The length of the message in bytes, header included.
    public var length: UInt32
    /// `RTM_*`, `NLMSG_*` or a generic netlink family's number.
    public var type: UInt16
    /// `NLM_F_*`.
    public var flags: NetlinkFlags
    /// The sequence number, chosen by the sender of a request; a notification repeats that of the request that caused it.
    public var sequence: UInt32
    /// The port of the request's sender, or 0.
    public var port: UInt32

    /// Creates a header from its fields.
    public init(length: UInt32, type: UInt16, flags: NetlinkFlags, sequence: UInt32, port: UInt32) {
        self.length = length
        self.type = type
        self.flags = flags
        self.sequence = sequence
        self.port = port
    }

    /// `sizeof(struct nlmsghdr)`.
    public static let size = 16
}

/// `NLM_F_*`: some bits have one meaning in a request and another in a reply or a notification.
public struct NetlinkFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    public let rawValue: UInt16
    /// Creates flags from the kernel's bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `NLM_F_REQUEST`.
    public static let request = Self(rawValue: 0x01)
    /// `NLM_F_MULTI`: part of a multipart reply that ends with `NLMSG_DONE`.
    public static let multi = Self(rawValue: 0x02)
    /// `NLM_F_ACK`.
    public static let acknowledge = Self(rawValue: 0x04)
    /// `NLM_F_DUMP_INTR`: the dump is inconsistent because something changed meanwhile.
    public static let dumpInterrupted = Self(rawValue: 0x10)
    /// `NLM_F_DUMP_FILTERED`: the kernel honoured the dump's filter.
    public static let dumpFiltered = Self(rawValue: 0x20)
    /// `NLM_F_DUMP` of a request: `NLM_F_ROOT | NLM_F_MATCH`.
    public static let dump = Self(rawValue: 0x300)
    /// `NLM_F_REPLACE` of a request or a notification.
    public static let replace = Self(rawValue: 0x100)
    /// `NLM_F_EXCL`.
    public static let exclusive = Self(rawValue: 0x200)
    /// `NLM_F_CREATE`.
    public static let create = Self(rawValue: 0x400)
    /// `NLM_F_APPEND`.
    public static let append = Self(rawValue: 0x800)
    /// `NLM_F_CAPPED` of an `NLMSG_ERROR`: the error is not followed by the request.
    public static let capped = Self(rawValue: 0x100)
    /// `NLM_F_ACK_TLVS` of an `NLMSG_ERROR`: extended acknowledgement attributes follow.
    public static let extendedAcknowledge = Self(rawValue: 0x200)
}

// MARK: - Numbers that several messages share, by the kernel's short names (include/uapi/linux/)

/// `NLMSG_*`: control messages, below `NLMSG_MIN_TYPE` (`netlink.h`).
enum NLMSG {
    static let noop: UInt16 = 1
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let minType: UInt16 = 16
}

/// `RTM_*`: the message types of NETLINK_ROUTE (`rtnetlink.h`), in groups of four: new, del, get, set.
enum RTM {
    static let newLink: UInt16 = 16
    static let delLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddr: UInt16 = 20
    static let delAddr: UInt16 = 21
    static let getAddr: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let delRoute: UInt16 = 25
    static let getRoute: UInt16 = 26
    static let newNeigh: UInt16 = 28
    static let delNeigh: UInt16 = 29
    static let getNeigh: UInt16 = 30
    static let newRule: UInt16 = 32
    static let delRule: UInt16 = 33
    static let getRule: UInt16 = 34
    static let newNetconf: UInt16 = 80
    static let delNetconf: UInt16 = 81
    static let getNetconf: UInt16 = 82
    static let newStats: UInt16 = 92
    static let getStats: UInt16 = 94
    static let newNexthop: UInt16 = 104
    static let delNexthop: UInt16 = 105
    static let getNexthop: UInt16 = 106
}

/// Generic netlink: `struct genlmsghdr` and `nlctrl` (`genetlink.h`).
enum GENL {
    /// `GENL_ID_CTRL`: the message type of `nlctrl`, and the number of its group `notify`.
    static let control: UInt16 = 0x10
    /// `sizeof(struct genlmsghdr)`: command, version, two reserved bytes.
    static let headerSize = 4
}

/// `AF_*`: the address families in netlink headers (`socket.h`).
enum AF {
    static let unspec: UInt8 = 0
    static let inet: UInt8 = 2
    static let bridge: UInt8 = 7
    static let inet6: UInt8 = 10
}
