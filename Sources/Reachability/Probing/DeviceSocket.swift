import CNetlink
import Glibc
import ReachabilityCore

/// The socket by which devices are asked about: generic netlink, on which ioctl(2) works as on any other.
struct DeviceSocket: ~Copyable {
    private let socket: NetlinkSocket
    private let buffer = ReceiveBuffer(size: 16 << 10)
    private var sequence: UInt32 = 0

    /// Opens it in the calling thread's network namespace.
    ///
    /// - Throws: ``NetlinkError`` if the kernel gives none.
    init() throws(NetlinkError) {
        let socket = try NetlinkSocket.open(NETLINK_GENERIC)
        try socket.setReceiveTimeout(microseconds: Self.patience)
        self.socket = socket
    }

    /// nl80211 answers within the send, once it has the configuration lock.
    private static let patience = 2_000_000

    var descriptor: Int32 { socket.descriptor }

    /// nl80211's answer about an interface; nil if it does not know it.
    mutating func wirelessInterface(_ index: InterfaceIndex, family: UInt16) -> [UInt8]? {
        nil
    }
}
