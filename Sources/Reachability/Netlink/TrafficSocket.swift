import CNetlink
import Glibc
import ReachabilityCore

/// Asks the kernel how much its interfaces have carried, and waits for the answer.
///
/// Confined to one thread at a time by whoever owns it.
struct TrafficSocket: ~Copyable {
    private let socket: NetlinkSocket
    private let buffer = ReceiveBuffer()
    private var sequence: UInt32 = 0
    /// Whether the kernel tells it with everything else of its links only.
    private var needsLinks = false

    /// Opens a socket in the calling thread's network namespace.
    ///
    /// - Throws: ``NetlinkError`` if the kernel gives none.
    init() throws(NetlinkError) {
        let socket = try NetlinkSocket.open(NETLINK_ROUTE)
        socket.setStrictChecking()
        socket.setCappedAcknowledgements()
        try socket.setReceiveTimeout(microseconds: Self.patience)
        self.socket = socket
    }

    /// How long an answer may take, once the kernel has its configuration lock.
    private static let patience = 500_000

    /// The counters of all interfaces.
    ///
    /// - Throws: ``NetlinkError`` if the socket fails, or no answer comes.
    mutating func read() throws(NetlinkError) -> [TrafficMessage] {
        guard !needsLinks else { return try askLinks() }
        do throws(NetlinkError) {
            return try ask { NetlinkRequests.traffic(sequence: $0) }
        } catch {
            guard error.errno == EOPNOTSUPP else { throw error }
            needsLinks = true
            return try askLinks()
        }
    }

    private mutating func askLinks() throws(NetlinkError) -> [TrafficMessage] {
        try ask { NetlinkRequests.dump(.links, sequence: $0) }
    }

    private mutating func ask(_ request: (UInt32) -> [UInt8]) throws(NetlinkError) -> [TrafficMessage] {
        sequence &+= 1
        try socket.send(request(sequence))
        var messages: [TrafficMessage] = []
        while true {
            switch socket.receive(into: buffer, waiting: true) {
            case .datagram(let length):
                guard let errno = take(length, into: &messages) else { continue }
                guard errno == 0 else { throw NetlinkError("RTM_GETSTATS", errno: errno) }
                return messages
            case .foreign: continue
            case .empty: throw NetlinkError("recvmsg", errno: ETIMEDOUT)
            case .overrun, .truncated: throw NetlinkError("recvmsg", errno: ENOBUFS)
            case .failed(let errno): throw NetlinkError("recvmsg", errno: errno)
            }
        }
    }

    /// Takes a datagram's counters; gives the errno with which the answer ends, if it does.
    private func take(_ length: Int, into messages: inout [TrafficMessage]) -> Int32? {
        var decoder = NetlinkDecoder()
        decoder.readsTraffic = needsLinks
        var end: Int32?
        var found: [TrafficMessage] = []
        buffer.withDatagram(length) { bytes in
            try? decoder.decode(bytes) { header, event in
                // What answers an earlier request came too late.
                guard header.sequence == sequence else { return }
                switch event {
                case .traffic(let message): found.append(message)
                case .done(let errno), .error(let errno): end = errno
                default: break
                }
            }
        }
        messages += found
        return end
    }
}
