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
