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
        sequence &+= 1
        let request = NetlinkRequests.wirelessInterface(index, family: family, sequence: sequence)
        return answers(to: request, family).first
    }

    /// nl80211's answers about the stations that an interface speaks with.
    mutating func wirelessStations(_ index: InterfaceIndex, family: UInt16) -> [[UInt8]] {
        sequence &+= 1
        let request = NetlinkRequests.wirelessStations(index, family: family, sequence: sequence)
        return answers(to: request, family)
    }

    /// The datagrams that answer a request, up to the end of a dump; none if it is refused, or not answered in time.
    private func answers(to request: [UInt8], _ family: UInt16) -> [[UInt8]] {
        guard (try? socket.send(request)) != nil else { return [] }
        var datagrams: [[UInt8]] = []
        while true {
            switch socket.receive(into: buffer, waiting: true) {
            case .datagram(let length):
                let answer = buffer.withDatagram(length) { WirelessAnswer($0, sequence, family) }
                if answer.isMeant { datagrams.append(answer.bytes) }
                if answer.isLast { return datagrams }
            case .foreign: continue
            case .empty, .truncated, .overrun, .failed: return []
            }
        }
    }
}

/// One datagram that may answer a question to nl80211.
private struct WirelessAnswer {
    /// Whether it tells something that was asked for.
    private(set) var isMeant = false
    /// Whether nothing more comes.
    private(set) var isLast = false
    let bytes: [UInt8]

    /// Looks into a datagram; one that answers an earlier question, for which nobody waited any more, is nothing.
    init(_ datagram: RawSpan, _ sequence: UInt32, _ number: UInt16) {
        bytes = datagram.withUnsafeBytes { [UInt8]($0) }
        var families = GenericFamilies()
        families.note(.init(name: GenericFamilies.wirelessName, id: number))
        let decoder = NetlinkDecoder(protocolNumber: NetlinkDecoder.generic, families: families)
        var found: [(NetlinkHeader, KernelEvent)] = []
        try? decoder.decode(datagram) { found.append(($0, $1)) }
        for (header, event) in found where header.sequence == sequence {
            switch event {
            case .wireless: (isMeant, isLast) = (true, !header.flags.contains(.multi))
            case .done, .error: isLast = true
            default: break
            }
        }
    }
}
