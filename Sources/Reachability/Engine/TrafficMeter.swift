import Glibc
import LinuxSystem
import Locking
package import ReachabilityCore

/// Reads how much the interfaces of an engine's network namespace have carried, on the calling thread.
package final class TrafficMeter: Sendable {
    private let socket: Lock<TrafficSocket>

    /// Opens its socket.
    ///
    /// - Parameter namespace: The network namespace of the interfaces.
    /// - Throws: ``NetlinkError`` if the kernel has none to give.
    init(in namespace: NetworkNamespaceHandle) throws(NetlinkError) {
        socket = .init(try TrafficSocket(in: namespace))
    }

    /// The counters of all interfaces: `RTM_GETSTATS`, or `RTM_GETLINK` of a kernel before Linux 4.7.
    ///
    /// Blocks the caller for some microseconds, or for as long as a driver holds the kernel's configuration lock.
    ///
    /// - Throws: ``ReachabilityError/Code/netlinkFailed`` if the kernel does not reply.
    package func read() throws(ReachabilityError) -> [TrafficMessage] {
        do throws(NetlinkError) {
            return try socket.withLock { socket throws(NetlinkError) in try socket.read() }
        } catch {
            throw ReachabilityError(error)
        }
    }
}

/// Requests the counters of all interfaces, and waits for the reply.
///
/// Confined to one thread at a time by its owner.
private struct TrafficSocket: ~Copyable {
    private let socket: NetlinkSocket
    private let buffer = ReceiveBuffer()
    private var sequence: UInt32 = 0
    /// Whether the kernel has the counters only in the dump of its links.
    private var needsLinks = false

    /// Opens a socket.
    ///
    /// - Throws: ``NetlinkError`` if the kernel has none to give.
    init(in namespace: NetworkNamespaceHandle) throws(NetlinkError) {
        socket = try NetlinkSocket.openForRequests(in: namespace)
    }

    /// The counters of all interfaces.
    ///
    /// - Throws: ``NetlinkError`` if the socket fails, or there is no reply.
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
            let length = try socket.receiveReply(into: buffer)
            guard let errno = take(length, into: &messages) else { continue }
            guard errno == 0 else { throw NetlinkError("RTM_GETSTATS", errno: errno) }
            return messages
        }
    }

    /// Takes a datagram's counters.
    ///
    /// - Returns: The errno with which the reply ends; nil if it continues.
    private func take(_ length: Int, into messages: inout [TrafficMessage]) -> Int32? {
        var decoder = NetlinkDecoder()
        decoder.readsTraffic = needsLinks
        var end: Int32?
        var found: [TrafficMessage] = []
        buffer.withDatagram(length) { bytes in
            try? decoder.decode(bytes) { header, event in
                // A late reply to an earlier request.
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
