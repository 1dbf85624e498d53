import Glibc
import ReachabilityCore

/// Lets the kernel select an IPv6 source address the way connect(2) does, without sending anything.
///
/// For a look-up that fails without a source, `ip6_dst_lookup_tail` selects one and looks up again; RTM_GETROUTE does
/// not. Connecting a UDP socket sends no packet.
struct ConnectProbe: ~Copyable {
    private let descriptor: Int32

    /// Opens a socket in the calling thread's network namespace; nil where there is no IPv6, or no such interface.
    ///
    /// - Parameter interface: What it is bound to: `SO_BINDTOIFINDEX` (socket(7)), which takes no privilege once.
    init?(boundTo interface: InterfaceIndex? = nil) {
        let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        if let interface, !Self.bind(descriptor, to: interface) {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func bind(_ descriptor: Int32, to interface: InterfaceIndex) -> Bool {
        var index = interface
        return setsockopt(descriptor, SOL_SOCKET, bindToInterface, &index, socklen_t(MemoryLayout.size(ofValue: index)))
            == 0
    }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: Int32 = 62

    /// Why there is no connection.
    struct Refusal: Error {
        let errno: Int32
    }

    /// Connects to an IPv6 address, port 443, tells the source, and lets go.
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

    /// connect(2): `AF_UNSPEC` dissolves the association, and with it the source.
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
