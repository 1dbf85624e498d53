import CNetlink
import Glibc
import LinuxSystem

/// A netlink socket that libnl owns: opened, bound, joined to groups, and closed with the object.
///
/// Confined to one thread at a time by its owner. Datagrams are passed as bytes to the project's own decoder.
final class NetlinkSocket {
    private let handle: OpaquePointer
    /// The socket's descriptor, for epoll(7) and ioctl(2).
    let descriptor: Int32

    private init(_ handle: OpaquePointer) {
        self.handle = handle
        descriptor = nl_socket_get_fd(handle)
    }

    deinit { nl_socket_free(handle) }

    /// Opens a socket and binds it, close-on-exec, to a port of its own; it is in no group yet.
    ///
    /// The corresponding libnl functions are `nl_socket_alloc` and `nl_connect`.
    ///
    /// - Parameters:
    ///   - protocolNumber: `NETLINK_ROUTE`, `NETLINK_GENERIC` or `NETLINK_KOBJECT_UEVENT`.
    ///   - namespace: The network namespace to which the socket belongs.
    /// - Returns: The socket.
    /// - Throws: ``NetlinkError`` if the kernel has no socket or no port to give, or the namespace can't be entered.
    static func open(
        _ protocolNumber: Int32,
        in namespace: NetworkNamespaceHandle
    ) throws(NetlinkError) -> NetlinkSocket {
        guard let handle = nl_socket_alloc() else { throw NetlinkError("nl_socket_alloc", errno: ENOMEM) }
        do throws(NetlinkError) {
            try connect(handle, protocolNumber, in: namespace)
        } catch {
            nl_socket_free(handle)
            throw error
        }
        return NetlinkSocket(handle)
    }

    /// The kernel replies within the send, for most requests once it has its configuration lock.
    private static let replyTimeout = Duration.milliseconds(500)

    /// Opens a socket for requests to rtnetlink, each of which waits for its reply.
    ///
    /// - Parameter namespace: The network namespace to which the socket belongs.
    /// - Returns: The socket.
    /// - Throws: ``NetlinkError`` if the kernel has none to give.
    static func openForRequests(in namespace: NetworkNamespaceHandle) throws(NetlinkError) -> NetlinkSocket {
        let socket = try open(NETLINK_ROUTE, in: namespace)
        socket.setStrictChecking()
        socket.setCappedAcknowledgements()
        try socket.setReceiveTimeout(replyTimeout)
        return socket
    }

    private static func connect(
        _ handle: OpaquePointer,
        _ protocolNumber: Int32,
        in namespace: NetworkNamespaceHandle
    ) throws(NetlinkError) {
        let failure: NetlinkError?
        do throws(SystemError) {
            failure = try namespace.run { () -> NetlinkError? in
                let code = nl_connect(handle, protocolNumber)
                // The errno belongs to the thread of this call, which may not be the caller's.
                return code == 0 ? nil : NetlinkError("nl_connect", libnl: code)
            }
        } catch {
            throw NetlinkError("setns", errno: error.code)
        }
        if let failure { throw failure }
    }

    /// Joins a multicast group: `nl_socket_add_membership`.
    func join(_ group: Int32) throws(NetlinkError) {
        let code = nl_socket_add_membership(handle, group)
        guard code == 0 else { throw NetlinkError("nl_socket_add_membership", libnl: code) }
    }

    /// Leaves a multicast group: `nl_socket_drop_membership`.
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

    /// Receives one datagram: recvmsg(2).
    ///
    /// - Parameters:
    ///   - buffer: Where the datagram goes.
    ///   - waits: Whether to wait for one.
    /// - Returns: The outcome.
    func receive(into buffer: ReceiveBuffer, waiting waits: Bool = false) -> NetlinkReceipt {
        var sender: UInt32 = 0
        let flags = waits ? 0 : Int32(MSG_DONTWAIT)
        let storage = buffer.storage
        let length = netwatch_receive(descriptor, storage.baseAddress, storage.count, flags, &sender)
        if length < 0 { return .init(failure: Int32(clamping: -length)) }
        guard sender == 0 else { return .foreign }
        return length > storage.count ? .truncated(length: length) : .datagram(length: length)
    }

    /// Waits for a datagram of a reply.
    ///
    /// - Parameter buffer: Where the datagram goes.
    /// - Returns: Its length.
    /// - Throws: ``NetlinkError``: ETIMEDOUT if none comes, ENOBUFS if one is lost.
    func receiveReply(into buffer: ReceiveBuffer) throws(NetlinkError) -> Int {
        while true {
            switch receive(into: buffer, waiting: true) {
            case .datagram(let length): return length
            case .foreign: continue
            case .empty: throw NetlinkError("recvmsg", errno: ETIMEDOUT)
            case .overrun, .truncated: throw NetlinkError("recvmsg", errno: ENOBUFS)
            case .failed(let errno): throw NetlinkError("recvmsg", errno: errno)
            }
        }
    }
}

// MARK: - Options

extension NetlinkSocket {
    /// Sets the receive buffer's size in bytes, beyond `net.core.rmem_max` if privileged.
    ///
    /// socket(7): `SO_RCVBUFFORCE`, else `SO_RCVBUF`. To be called after `nl_connect`, which makes the buffer smaller
    /// than the kernel's default.
    func setReceiveBuffer(_ size: Int) {
        let size = Int32(clamping: size)
        if set(SOL_SOCKET, SO_RCVBUFFORCE, size) != 0 { _ = set(SOL_SOCKET, SO_RCVBUF, size) }
    }

    /// Has the kernel refuse dump filters that it does not know, and honour those it does.
    ///
    /// netlink(7): `NETLINK_GET_STRICT_CHK` (Linux 4.20). Also leaves the route cache's exceptions out of dumps. An older
    /// kernel refuses, and replies with more than was asked for.
    func setStrictChecking() { _ = set(SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1) }

    /// Keeps refused requests out of the kernel's refusals: netlink(7), `NETLINK_CAP_ACK`.
    func setCappedAcknowledgements() { _ = set(SOL_NETLINK, NETLINK_CAP_ACK, 1) }

    /// Limits how long a waiting receive waits: socket(7), `SO_RCVTIMEO`.
    func setReceiveTimeout(_ timeout: Duration) throws(NetlinkError) {
        let (seconds, attoseconds) = timeout.components
        var time = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size) == 0 else {
            throw NetlinkError("SO_RCVTIMEO", errno: errno)
        }
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) -> Int32 {
        var value = value
        return setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// The outcome of an attempt to receive a datagram.
enum NetlinkReceipt: Equatable {
    /// A datagram of the kernel is in the buffer.
    case datagram(length: Int)
    /// There is none (`EAGAIN`).
    case empty
    /// The kernel dropped messages because the socket's buffer was full (`ENOBUFS`); queued messages are still there.
    case overrun
    /// The datagram was longer than the buffer, and its end is lost (`MSG_TRUNC`).
    case truncated(length: Int)
    /// A datagram of another process, which was dropped: only the kernel is trusted.
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

/// The memory into which datagrams are received, one after the other.
///
/// Confined to the thread of its owner: its content is valid until the next receive.
final class ReceiveBuffer {
    /// Enough for every datagram of rtnetlink: 32 KiB at most for dumps.
    private static let defaultSize = 64 << 10
    /// No datagram of rtnetlink comes near.
    private static let maximumSize = 16 << 20

    fileprivate private(set) var storage: UnsafeMutableRawBufferPointer

    /// Allocates a buffer.
    ///
    /// - Parameter size: Its size in bytes.
    init(size: Int = defaultSize) { storage = .allocate(byteCount: size, alignment: 16) }

    deinit { storage.deallocate() }

    /// Makes room for a datagram that was truncated, so that the next of its kind is not.
    func grow(to size: Int) {
        guard size > storage.count, size <= Self.maximumSize else { return }
        storage.deallocate()
        storage = .allocate(byteCount: size, alignment: 16)
    }

    /// Overwrites what was received: explicit_bzero(3), which no compiler leaves out.
    func erase() {
        if let start = storage.baseAddress { explicit_bzero(start, storage.count) }
    }

    /// Passes the last received datagram to a closure.
    func withDatagram<Result>(_ length: Int, _ body: (RawSpan) -> Result) -> Result {
        body(UnsafeRawBufferPointer(rebasing: storage[..<min(length, storage.count)]).bytes)
    }
}

/// A call to libnl or to the kernel's sockets that failed.
struct NetlinkError: Error, Equatable {
    /// The function or option.
    let call: StaticString
    /// The error number (errno(3)) that the system call left.
    let errno: Int32

    /// Creates an error from a system call's failure.
    init(_ call: StaticString, errno: Int32) {
        self.call = call
        self.errno = errno
    }

    /// Creates an error from a libnl function's failure, with the errno underneath.
    ///
    /// libnl's own codes merge several errnos (`NLE_NOMEM` is ENOMEM and ENOBUFS).
    init(_ call: StaticString, libnl code: Int32) {
        let underlying = Glibc.errno
        self.init(call, errno: underlying == 0 ? -code : underlying)
    }

    static func == (left: Self, right: Self) -> Bool {
        left.errno == right.errno && "\(left.call)" == "\(right.call)"
    }
}

extension ReachabilityError {
    /// Creates an error from a netlink call's failure.
    init(_ error: NetlinkError) { self.init(.netlinkFailed, errno: error.errno, "\(error.call)") }
}
