import Glibc
import LinuxSystem
import ReachabilityCore

/// Has the kernel select an IPv6 source address as connect(2) does, without sending anything.
///
/// For a lookup that fails without a source, `ip6_dst_lookup_tail` selects one and looks up again; RTM_GETROUTE does
/// not. Connecting a UDP socket sends no packet.
final class ConnectProbe {
    private let descriptor: Int32

    /// Opens a socket; nil where there is no IPv6, or no such interface.
    ///
    /// - Parameters:
    ///   - namespace: The network namespace to which the socket belongs.
    ///   - interface: The interface to which it is bound: `SO_BINDTOIFINDEX` (socket(7)), which takes no privilege once.
    init?(in namespace: NetworkNamespaceHandle, boundTo interface: InterfaceIndex? = nil) {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard let descriptor = try? namespace.run({ socket(AF_INET6, type, 0) }), descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        if let interface, !Self.bind(descriptor, to: interface) { return nil }
    }

    deinit { close(descriptor) }

    private static func bind(_ descriptor: Int32, to interface: InterfaceIndex) -> Bool {
        var index = interface
        return setsockopt(descriptor, SOL_SOCKET, bindToInterface, &index, socklen_t(MemoryLayout.size(ofValue: index)))
            == 0
    }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: Int32 = 62

    /// The errno of a connection that failed.
    struct Refusal: Error {
        let errno: Int32
    }

    /// Connects to an IPv6 address, port 443, and dissolves the connection again.
    ///
    /// - Returns: The source address that the kernel selected, or why there is none.
    func connect(to destination: IPAddress) -> Result<IPAddress, Refusal> {
        defer { release() }
        var address = sockaddr_in6(destination, port: 443)
        let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        guard connected == 0 else { return .failure(.init(errno: errno)) }
        var own = sockaddr_in6()
        var ownSize = size
        let named = withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &ownSize) }
        }
        return named == 0 ? .success(own.ipAddress) : .failure(.init(errno: errno))
    }

    /// Dissolves the association, and with it the source: connect(2) with `AF_UNSPEC`.
    private func release() {
        var nothing = sockaddr()
        nothing.sa_family = sa_family_t(AF_UNSPEC)
        _ = Glibc.connect(descriptor, &nothing, socklen_t(MemoryLayout<sockaddr>.size))
    }
}

extension sockaddr_in6 {
    fileprivate init(_ address: IPAddress, port: UInt16) {
        self.init()
        sin6_family = sa_family_t(AF_INET6)
        sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &sin6_addr) { $0.storeBytes(of: address.bits.bigEndian, as: UInt128.self) }
    }

    fileprivate var ipAddress: IPAddress {
        let bits = withUnsafeBytes(of: sin6_addr) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
        return .init(family: .ipv6, bits: bits)
    }
}
