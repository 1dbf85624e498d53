import CNetlink
import Glibc
import LinuxSystem
import ReachabilityCore

/// The socket of one probe, to which the kernel delivers the ICMP errors about that probe and no other (`IP_RECVERR`).
///
/// None of its options needs privilege. Confined to one thread by its owner.
final class ProbeSocket {
    private let target: TraceTarget
    private let handle: Descriptor

    /// Opens a socket in the calling thread's network namespace.
    ///
    /// - Parameters:
    ///   - target: The destination.
    ///   - hops: The time to live of its packets.
    /// - Throws: The errno of socket(2) or setsockopt(2).
    init(to target: TraceTarget, hops: Int) throws(SystemError) {
        self.target = target
        let family = target.address.family == .ipv4 ? AF_INET : AF_INET6
        let type = target.transport == .udp ? SOCK_DGRAM : SOCK_STREAM
        let flags = Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        handle = try Descriptor("socket") { socket(family, flags, 0) }
        if let interface = target.interface {
            try set(SOL_SOCKET, Self.bindToInterface, interface)
        }
        try target.address.family == .ipv4 ? configureIPv4(hops: hops) : configureIPv6(hops: hops)
        if target.transport != .udp { try resetOnClose() }
    }

    /// The descriptor, for poll(2).
    var descriptor: Int32 { handle.number }

    /// The event that announces an answer of the destination; errors are announced by `POLLERR` in any case.
    var events: Int16 { Int16(target.transport == .udp ? POLLIN : POLLOUT) }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: Int32 = 62

    /// Has the kernel queue errors, and send every packet as it is: not in fragments, and whatever it knows of the path's MTU.
    private func configureIPv4(hops: Int) throws(SystemError) {
        try set(Int32(IPPROTO_IP), IP_RECVERR, 1)
        try set(Int32(IPPROTO_IP), IP_TTL, Int32(hops))
        try set(Int32(IPPROTO_IP), IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
    }

    private func configureIPv6(hops: Int) throws(SystemError) {
        try set(Int32(IPPROTO_IPV6), IPV6_RECVERR, 1)
        try set(Int32(IPPROTO_IPV6), IPV6_UNICAST_HOPS, Int32(hops))
        try set(Int32(IPPROTO_IPV6), IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE)
        try set(Int32(IPPROTO_IPV6), IPV6_DONTFRAG, 1)
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) throws(SystemError) {
        var value = value
        let size = socklen_t(MemoryLayout.size(ofValue: value))
        _ = try retryingOnInterrupt("setsockopt") { setsockopt(descriptor, level, option, &value, size) }
    }

    /// Has close(2) end an accepted connection with one packet.
    private func resetOnClose() throws(SystemError) {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        _ = try retryingOnInterrupt("setsockopt") { setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size) }
    }
}

// MARK: - Sending

extension ProbeSocket {
    /// Sends the probe: a datagram of this size, or a SYN.
    ///
    /// - Parameter size: The size of the IP packet in bytes.
    /// - Throws: The errno of connect(2) or send(2).
    func send(size: Int) throws(SystemError) {
        try connect()
        guard target.transport == .udp else { return }
        let payload = [UInt8](repeating: 0, count: max(0, size - headerSize))
        _ = try retryingOnInterrupt("send") {
            Glibc.send(descriptor, payload, payload.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// The size of the IP header and the UDP header in bytes.
    private var headerSize: Int { target.address.family == .ipv4 ? 28 : 48 }

    /// Connects, or begins to.
    private func connect() throws(SystemError) {
        let address = ResolvedAddress(target.address, scope: UInt32(bitPattern: target.scope))
        let isConnected = address.withSocketAddress(port: target.port) { Glibc.connect(descriptor, $0, $1) == 0 }
        guard isConnected || errno == EINPROGRESS else { throw .init(code: errno, call: "connect") }
    }
}

// MARK: - Receiving

extension ProbeSocket {
    /// Returns the outcome of the probe, once poll(2) has reported an event; nil if the event was none.
    func outcome() -> TraceOutcome? {
        if let error = queuedError() { return outcome(of: error) }
        return target.transport == .udp ? datagram() : connection()
    }

    /// The outcome of a send that failed; the error queue knows more than errno.
    func outcome(of failure: SystemError) -> TraceOutcome {
        queuedError().map(outcome) ?? .refused(errno: failure.code)
    }

    private func outcome(of error: QueuedSocketError) -> TraceOutcome {
        guard let meaning = error.icmpError, let offender = error.offender else {
            guard error.errno == EMSGSIZE, let own = ownAddress else { return .refused(errno: error.errno) }
            return .icmp(.packetTooBig(mtu: error.info), from: own)
        }
        // The machine sends itself an ICMP error when ARP or neighbour discovery fails.
        return meaning == .hostUnreachable && offender == ownAddress
            ? .neighborUnreachable : .icmp(meaning, from: offender)
    }

    /// Takes the oldest error from the error queue.
    private func queuedError() -> QueuedSocketError? {
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: MemoryLayout<UInt>.alignment) { control in
            let length = netwatch_receive_error(descriptor, control.baseAddress, control.count)
            guard length > 0 else { return nil }
            return QueuedSocketError(controlMessages: UnsafeRawBufferPointer(control).bytes.extracting(first: length))
        }
    }

    private func datagram() -> TraceOutcome? {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 ? .response(.datagram) : nil
    }

    private func connection() -> TraceOutcome? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout.size(ofValue: code))
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return nil }
        switch code {
        case 0: return isConnected ? .response(.accepted) : nil
        case ECONNREFUSED, ECONNRESET: return .response(.reset)
        default: return nil
        }
    }

    private var isConnected: Bool { name(getpeername) != nil }

    /// The source address of the packets, once the socket is connected.
    private var ownAddress: IPAddress? { name(getsockname) }

    private func name(
        _ function: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
    ) -> IPAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                function(descriptor, address, &size) == 0 ? ResolvedAddress(address)?.address : nil
            }
        }
    }
}
