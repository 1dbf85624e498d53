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
        /// `WGPEER_A_ALLOWEDIPS`: the addresses that it is asked to carry.
        public var allowed: [IPPrefix] = []

        /// Makes a peer without endpoint.
        public init() {}
    }
}
