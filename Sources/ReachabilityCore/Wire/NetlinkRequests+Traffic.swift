extension NetlinkRequests {
    /// A dump of all interfaces' counters and nothing else (`RTM_GETSTATS`, Linux 4.7), for `RTM_NEWSTATS` to answer.
    ///
    /// An older kernel refuses it with EOPNOTSUPP.
    public static func traffic(sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: RTM.getStats, flags: [.request, .dump], sequence: sequence)
        builder.append(UInt32(0))
        builder.append(InterfaceIndex(0))
        builder.append(STATS.filterLink64)
        return builder.build()
    }
}
