import Glibc
import LinuxSystem
import ReachabilityCore

/// Reads single interfaces with their addresses, however many there are.
///
/// Confined to one thread at a time by its owner.
final class InterfaceSocket {
    private let socket: NetlinkSocket
    private let buffer = ReceiveBuffer()
    private var sequence: UInt32 = 0

    /// Opens a socket.
    ///
    /// - Parameter namespace: The network namespace of the interfaces.
    /// - Throws: ``NetlinkError`` if the kernel has none to give.
    init(in namespace: NetworkNamespaceHandle) throws(NetlinkError) {
        socket = try NetlinkSocket.openForRequests(in: namespace)
    }

    /// Reads an interface's link, and its addresses in the kernel's order.
    ///
    /// - Parameter index: The interface.
    /// - Returns: The kernel's messages, the link's first.
    /// - Throws: ``NetlinkError`` if there is no such interface, if its addresses change meanwhile, or if the socket fails.
    func read(_ index: InterfaceIndex) throws(NetlinkError) -> [KernelEvent] {
        sequence &+= 1
        var messages = try ask(NetlinkRequests.link(index, sequence: sequence))
        for family in AddressFamily.allCases {
            sequence &+= 1
            messages += try ask(NetlinkRequests.addresses(of: index, family, sequence: sequence)).filter { event in
                guard case .address(let message) = event else { return false }
                return message.index == index && message.address.family == family
            }
        }
        return messages
    }

    /// Sends a request, and returns its replies.
    private func ask(_ request: [UInt8]) throws(NetlinkError) -> [KernelEvent] {
        try socket.send(request)
        var reply = Reply()
        while !reply.isComplete {
            let length = try socket.receiveReply(into: buffer)
            take(length, &reply)
        }
        guard reply.errno == 0 else { throw NetlinkError("rtnetlink", errno: reply.errno) }
        return reply.messages
    }

    /// The reply to one request.
    private struct Reply {
        var messages: [KernelEvent] = []
        var isComplete = false
        var errno: Int32 = 0
    }

    private func take(_ length: Int, _ reply: inout Reply) {
        buffer.withDatagram(length) { bytes in
            do throws(NetlinkDecodeError) {
                try NetlinkDecoder().decode(bytes) { header, event in
                    // A late reply to an earlier request.
                    guard header.sequence == sequence else { return }
                    if header.flags.contains(.dumpInterrupted) { reply.errno = EINTR }
                    switch event {
                    case .done(let errno), .error(let errno):
                        reply.isComplete = true
                        if errno != 0 { reply.errno = errno }
                    default:
                        reply.messages.append(event)
                        if !header.flags.contains(.multi) { reply.isComplete = true }
                    }
                }
            } catch {
                reply.isComplete = true
                reply.errno = EBADMSG
            }
        }
    }
}
