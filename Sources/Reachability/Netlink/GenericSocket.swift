import CNetlink
import Glibc
import ReachabilityCore

/// Hears of WiFi: generic netlink, of which only nl80211's messages about interfaces and associations come in.
///
/// On a kernel without nl80211 it hears nothing but that the family has come.
struct GenericSocket: ~Copyable {
    private let socket: NetlinkSocket

    /// Opens it in the calling thread's network namespace; from then on it hears of families that come.
    ///
    /// - Throws: ``NetlinkError`` if the kernel gives none.
    init() throws(NetlinkError) {
        let socket = try NetlinkSocket.open(NETLINK_GENERIC)
        socket.setReceiveBuffer(Self.bufferSize)
        try socket.attach(.wireless)
        try socket.join(Self.controlGroup)
        self.socket = socket
    }

    /// Room for the frames of some hundred associations; libnl gives 32 KiB.
    private static let bufferSize = 256 << 10
    /// `notify` of `nlctrl`, the one group whose number is fixed (`GENL_ID_CTRL`).
    private static let controlGroup: Int32 = 0x10
    /// Those of nl80211 that tell of interfaces and of associations; not `scan` and `regulatory`, which never end.
    private static let wirelessGroups = ["config", "mlme"]

    /// For epoll(7).
    var descriptor: Int32 { socket.descriptor }

    /// Asks which families there are.
    func send(_ request: [UInt8]) throws(NetlinkError) { try socket.send(request) }

    /// Takes one datagram.
    func receive(into buffer: ReceiveBuffer) -> NetlinkReceipt { socket.receive(into: buffer) }

    /// Hears what a family tells, if it is nl80211.
    func hear(_ family: GenericFamily) {
        guard family.name == GenericFamilies.wirelessName else { return }
        for name in Self.wirelessGroups {
            // Who is in a group already stays in it.
            if let number = family.groups[name] { try? socket.join(Int32(truncatingIfNeeded: number)) }
        }
    }
}
