/// How much an interface has carried: what one `RTM_NEWSTATS` said (`include/uapi/linux/if_link.h`).
public struct TrafficMessage: Sendable, Hashable {
    /// `ifindex` of `struct if_stats_msg`.
    public var index: InterfaceIndex
    /// `rx_bytes` of `struct rtnl_link_stats64`, since the interface was made.
    public var receivedBytes: UInt64
    /// `tx_bytes` of it.
    public var sentBytes: UInt64

    /// Makes a message.
    public init(index: InterfaceIndex, receivedBytes: UInt64, sentBytes: UInt64) {
        self.index = index
        self.receivedBytes = receivedBytes
        self.sentBytes = sentBytes
    }
}

extension TrafficMessage {
    /// `sizeof(struct if_stats_msg)`.
    static let bodySize = 12

    /// Reads the payload of an `RTM_NEWSTATS`; nil if it tells nothing of all traffic (`IFLA_STATS_LINK_64`).
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        try self.init(
            body.load(4, bytes),
            of: STATS.link64,
            "IFLA_STATS_LINK_64",
            in: body.attributes(behind: Self.bodySize),
            bytes
        )
    }

    /// Reads the counters from the payload of an `RTM_NEWLINK`, where they are beside all else; nil if they are not.
    init?(link body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(LinkMessage.bodySize)
        // A bridge's port is told again, as such, in the family of bridges.
        guard body.byte(0, bytes) == AF.unspec else { return nil }
        try self.init(
            body.load(4, bytes),
            of: IFLA.stats64,
            "IFLA_STATS64",
            in: body.attributes(behind: LinkMessage.bodySize),
            bytes
        )
    }

    private init?(
        _ index: InterfaceIndex,
        of type: UInt16,
        _ name: String,
        in list: AttributeCursor,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        var cursor = list
        var found: NetlinkAttribute?
        while let attribute = try cursor.next(bytes) {
            if attribute.type == type { found = attribute }
        }
        guard let found else { return nil }
        self.init(
            index: index,
            receivedBytes: try found.integer(bytes, name, at: Self.receivedBytesOffset),
            sentBytes: try found.integer(bytes, name, at: Self.sentBytesOffset)
        )
    }

    /// Where `rx_bytes` lies in `struct rtnl_link_stats64`, behind the two counts of packets.
    private static let receivedBytesOffset = 16
    /// Where `tx_bytes` lies in it.
    private static let sentBytesOffset = 24
}

extension TrafficMessage {
    /// Appends `struct if_stats_msg` and the counters, of which those that nobody reads are zero.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(UInt32(0))
        builder.append(index)
        builder.append(STATS.filterLink64)
        builder.nested(STATS.link64, flagged: false) { counters in
            counters.append(UInt64(0))
            counters.append(UInt64(0))
            counters.append(receivedBytes)
            counters.append(sentBytes)
            counters.append(bytes: repeatElement(0, count: Self.otherCounters))
        }
    }

    /// The rest of `struct rtnl_link_stats64` as Linux 6.1 has it.
    private static let otherCounters = 168
}
