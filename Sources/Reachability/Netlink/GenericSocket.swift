import CNetlink
import Glibc
import ReachabilityCore

/// Receives the events of generic netlink: nl80211's about interfaces and associations, and the options of teams.
///
/// On a kernel without these families it receives nothing but that one was registered.
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
    /// `TEAM_GENL_CHANGE_EVENT_MC_GRP_NAME`, which takes no privilege.
    private static let teamGroups = ["change_event"]

    /// For epoll(7).
    var descriptor: Int32 { socket.descriptor }

    /// Asks which families there are.
    func send(_ request: [UInt8]) throws(NetlinkError) { try socket.send(request) }

    /// Takes one datagram.
    func receive(into buffer: ReceiveBuffer) -> NetlinkReceipt { socket.receive(into: buffer) }

    /// Joins the groups of a family whose events are read.
    func hear(_ family: GenericFamily) {
        for name in Self.groups(of: family.name) {
            // Who is in a group already stays in it.
            if let number = family.groups[name] { try? socket.join(Int32(truncatingIfNeeded: number)) }
        }
    }

    private static func groups(of family: String) -> [String] {
        switch family {
        case GenericFamilies.wirelessName: wirelessGroups
        case GenericFamilies.teamName: teamGroups
        default: []
        }
    }
}
