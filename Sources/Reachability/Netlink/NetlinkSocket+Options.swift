import CNetlink
import Glibc

extension NetlinkSocket {
    /// Asks for a receive buffer of a size in bytes, beyond `net.core.rmem_max` if privileged.
    ///
    /// socket(7): `SO_RCVBUFFORCE`, else `SO_RCVBUF`. To be called after `nl_connect`, which makes the buffer smaller
    /// than the kernel's default.
    func setReceiveBuffer(_ size: Int) {
        let size = Int32(clamping: size)
        if set(SOL_SOCKET, SO_RCVBUFFORCE, size) != 0 { _ = set(SOL_SOCKET, SO_RCVBUF, size) }
    }

    /// Lets the kernel refuse dump filters that it does not know, and honour those it does.
    ///
    /// netlink(7): `NETLINK_GET_STRICT_CHK` (Linux 4.20). Also leaves the route cache's exceptions out of dumps. An older
    /// kernel refuses, and answers with more than was asked for.
    func setStrictChecking() { _ = set(SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1) }

    /// Keeps refused requests out of the kernel's refusals: netlink(7), `NETLINK_CAP_ACK`.
    func setCappedAcknowledgements() { _ = set(SOL_NETLINK, NETLINK_CAP_ACK, 1) }

    /// Bounds how long a waiting receive waits: socket(7), `SO_RCVTIMEO`.
    func setReceiveTimeout(microseconds: Int) throws(NetlinkError) {
        var time = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size) == 0 else {
            throw NetlinkError("SO_RCVTIMEO", errno: errno)
        }
    }

    /// Puts a filter before the socket, in place of the one it has.
    func attach(_ filter: SocketFilter) throws(NetlinkError) { try filter.attach(to: descriptor) }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) -> Int32 {
        var value = value
        return setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

extension SocketFilter {
    /// Puts the program before a socket, in place of the one it has: socket(7), `SO_ATTACH_FILTER`.
    ///
    /// The kernel swaps the programs at once: each message passes through one or the other.
    func attach(to descriptor: Int32) throws(NetlinkError) {
        var instructions = instructions.map { sock_filter(code: $0.code, jt: $0.jt, jf: $0.jf, k: $0.k) }
        let count = UInt16(clamping: instructions.count)
        let result = instructions.withUnsafeMutableBufferPointer { part in
            var program = sock_fprog(len: count, filter: part.baseAddress)
            let size = socklen_t(MemoryLayout<sock_fprog>.size)
            return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, size)
        }
        guard result == 0 else { throw NetlinkError("SO_ATTACH_FILTER", errno: errno) }
    }
}
