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
