import CNetlink
import Glibc

/// A netlink socket that libnl owns: opened, bound, joined to groups, and closed with the value.
///
/// Confined to one thread at a time by whoever owns it. What is received goes as bytes to the project's own decoder.
struct NetlinkSocket: ~Copyable {
    private let handle: OpaquePointer
    /// For epoll(7), and for socket options that libnl has no call for.
    let descriptor: Int32

    private init(_ handle: OpaquePointer, descriptor: Int32) {
        self.handle = handle
        self.descriptor = descriptor
    }

    deinit { nl_socket_free(handle) }

    /// Opens a socket and binds it, close-on-exec, to a port of its own; it hears no group yet.
    ///
    /// The corresponding libnl functions are `nl_socket_alloc` and `nl_connect`.
    ///
    /// - Parameter family: `NETLINK_ROUTE` or `NETLINK_KOBJECT_UEVENT`.
    /// - Returns: The socket, open.
    /// - Throws: ``NetlinkError`` if the kernel gives no socket or no port.
    static func open(_ family: Int32) throws(NetlinkError) -> NetlinkSocket {
        guard let handle = nl_socket_alloc() else { throw NetlinkError("nl_socket_alloc", errno: ENOMEM) }
        let code = nl_connect(handle, family)
        guard code == 0 else {
            let error = NetlinkError("nl_connect", libnl: code)
            nl_socket_free(handle)
            throw error
        }
        return NetlinkSocket(handle, descriptor: nl_socket_get_fd(handle))
    }

    /// The port that the kernel's answers name.
    var port: UInt32 { nl_socket_get_local_port(handle) }

    /// Hears a multicast group from now on: `nl_socket_add_membership`.
    func join(_ group: Int32) throws(NetlinkError) {
        let code = nl_socket_add_membership(handle, group)
        guard code == 0 else { throw NetlinkError("nl_socket_add_membership", libnl: code) }
    }

    /// Hears a multicast group no more: `nl_socket_drop_membership`.
    func leave(_ group: Int32) throws(NetlinkError) {
        let code = nl_socket_drop_membership(handle, group)
        guard code == 0 else { throw NetlinkError("nl_socket_drop_membership", libnl: code) }
    }

    /// Sends one request or several to the kernel: `nl_sendto`.
    func send(_ bytes: [UInt8]) throws(NetlinkError) {
        var sent: Int32
        repeat {
            sent = bytes.withUnsafeBytes { part in
                nl_sendto(handle, UnsafeMutableRawPointer(mutating: part.baseAddress), part.count)
            }
        } while sent == -NLE_INTR
        guard sent >= 0 else { throw NetlinkError("nl_sendto", libnl: sent) }
    }

    /// Takes one datagram, without waiting unless told to; see ``NetlinkReceipt``.
    func receive(into buffer: ReceiveBuffer, waiting: Bool = false) -> NetlinkReceipt {
        var sender: UInt32 = 0
        let flags = waiting ? 0 : Int32(MSG_DONTWAIT)
        let storage = buffer.storage
        let length = netwatch_receive(descriptor, storage.baseAddress, storage.count, flags, &sender)
        if length < 0 { return .init(failure: Int32(clamping: -length)) }
        guard sender == 0 else { return .foreign }
        return length > storage.count ? .truncated(length: length) : .datagram(length: length)
    }
}

/// What became of an attempt to receive.
enum NetlinkReceipt: Equatable {
    /// A datagram of the kernel's lies in the buffer.
    case datagram(length: Int)
    /// There is none (`EAGAIN`).
    case empty
    /// The kernel dropped messages because the socket's buffer was full (`ENOBUFS`); what is queued is still there.
    case overrun
    /// The datagram was longer than the buffer, and its end is lost (`MSG_TRUNC`).
    case truncated(length: Int)
    /// A datagram of another process, which was dropped: only the kernel is believed.
    case foreign
    /// The socket failed with an errno.
    case failed(errno: Int32)

    fileprivate init(failure: Int32) {
        switch failure {
        case EAGAIN: self = .empty
        case ENOBUFS: self = .overrun
        default: self = .failed(errno: failure)
        }
    }
}
