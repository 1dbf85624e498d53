/// The fixed head of each netlink message: `struct nlmsghdr` (netlink(7)).
public struct NetlinkHeader: Sendable, Hashable {
    /// Length of the message with this head, in bytes.
    public var length: UInt32
    /// `RTM_*`, `NLMSG_*` or a generic netlink family's number.
    public var type: UInt16
    /// `NLM_F_*`.
    public var flags: NetlinkFlags
    /// Chosen by whoever sent the request; a notification repeats the one of the request that caused it.
    public var sequence: UInt32
    /// The port of the request's sender, or 0.
    public var port: UInt32

    /// Makes a head from its fields.
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

/// `NLM_F_*`: several bits mean one thing in a request and another in an answer or a notification.
public struct NetlinkFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    public let rawValue: UInt16
    /// Takes the kernel's bits as they are.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `NLM_F_REQUEST`.
    public static let request = Self(rawValue: 0x01)
    /// `NLM_F_MULTI`: part of a multipart answer that ends with `NLMSG_DONE`.
    public static let multi = Self(rawValue: 0x02)
    /// `NLM_F_ACK`.
    public static let acknowledge = Self(rawValue: 0x04)
    /// `NLM_F_DUMP_INTR`: the dump is inconsistent, something changed while it was made.
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
    /// `NLM_F_CAPPED` of an `NLMSG_ERROR`: the request is not repeated behind the error.
    public static let capped = Self(rawValue: 0x100)
    /// `NLM_F_ACK_TLVS` of an `NLMSG_ERROR`: extended acknowledgement attributes follow.
    public static let extendedAcknowledge = Self(rawValue: 0x200)
}
