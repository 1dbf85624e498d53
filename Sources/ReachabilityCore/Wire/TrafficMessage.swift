/// An interface's byte counters: the content of an `RTM_NEWSTATS` message (`include/uapi/linux/if_link.h`).
package struct TrafficMessage: Sendable, Hashable {
    /// `ifindex` of `struct if_stats_msg`.
    package var index: InterfaceIndex
    /// `rx_bytes` of `struct rtnl_link_stats64`, since the interface was created.
    package var receivedBytes: UInt64
    /// `tx_bytes` of `struct rtnl_link_stats64`, since the interface was created.
    package var sentBytes: UInt64

    /// Creates a message.
    package init(index: InterfaceIndex, receivedBytes: UInt64, sentBytes: UInt64) {
        self.index = index
        self.receivedBytes = receivedBytes
        self.sentBytes = sentBytes
    }
}

// MARK: - Decoding

extension TrafficMessage {
    /// `sizeof(struct if_stats_msg)`.
    static let bodySize = 12

    /// Decodes the payload of an `RTM_NEWSTATS` message, or returns nil if it has no `IFLA_STATS_LINK_64`.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        try self.init(
            body.load(4, bytes),
            of: STATS.link64,
            "IFLA_STATS_LINK_64",
            in: body.attributes(after: Self.bodySize),
            bytes
        )
    }

    /// Decodes the counters in the payload of an `RTM_NEWLINK` message, or returns nil if it has none.
    init?(link body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(LinkMessage.bodySize)
        // A bridge announces each of its ports once more, with the family AF_BRIDGE.
        guard body.byte(0, bytes) == AF.unspec else { return nil }
        try self.init(
            body.load(4, bytes),
            of: IFLA.stats64,
            "IFLA_STATS64",
            in: body.attributes(after: LinkMessage.bodySize),
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

    /// The offset of `rx_bytes` in `struct rtnl_link_stats64`, after two packet counters.
    private static let receivedBytesOffset = 16
    /// The offset of `tx_bytes`.
    private static let sentBytesOffset = 24
}

// MARK: - Encoding

extension TrafficMessage {
    /// Appends `struct if_stats_msg` and the counters; those that are never read are zero.
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

    /// The size of the remaining counters in Linux 6.1.
    private static let otherCounters = 168
}

// MARK: - Requests

extension NetlinkRequests {
    /// Returns a request for a dump of all interfaces' counters (`RTM_GETSTATS`, Linux 4.7); the replies are `RTM_NEWSTATS`.
    ///
    /// Older kernels refuse it with EOPNOTSUPP.
    package static func traffic(sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: RTM.getStats, flags: [.request, .dump], sequence: sequence)
        builder.append(UInt32(0))
        builder.append(InterfaceIndex(0))
        builder.append(STATS.filterLink64)
        return builder.build()
    }
}

// MARK: - Numbers

/// `IFLA_STATS_*`: attributes of counters, and the bits that request them (`if_link.h`).
private enum STATS {
    static let link64: UInt16 = 1
    /// `IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)`.
    static let filterLink64: UInt32 = 1
}
