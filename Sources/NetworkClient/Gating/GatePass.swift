import Glibc
import NIOCore
public import ReachabilityCore

/// What a request must keep to that was let through a gate.
public struct GatePass: Sendable, Hashable {
    /// The interface to which its connection must be bound; nil if it may leave by any, or does not leave this machine.
    public var interface: InterfaceIndex?
    /// The addresses to which there is a way, the best first; nil if none was judged, as online without a requirement.
    public var addresses: [IPAddress]?

    /// Sets both.
    public init(interface: InterfaceIndex? = nil, addresses: [IPAddress]? = nil) {
        self.interface = interface
        self.addresses = addresses
    }

    /// The interface's name (if_indextoname(3)); nil if there is none, or it has gone.
    public var interfaceName: String? {
        guard let interface, interface > 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            if_indextoname(UInt32(interface), buffer.baseAddress).map { String(cString: $0) }
        }
    }

    /// Binds a socket that is not connected yet to the interface, if there is one to keep to.
    ///
    /// `SO_BINDTOIFINDEX`, socket(7): without privilege it can be set once.
    ///
    /// - Parameter socket: The socket's descriptor.
    /// - Throws: ``HTTPError`` with code ``HTTPError/Code/interfaceNotFound`` and the kernel's errno.
    public func bind(_ socket: CInt) throws(HTTPError) {
        guard var index = interface else { return }
        let size = socklen_t(MemoryLayout.size(ofValue: index))
        guard setsockopt(socket, SOL_SOCKET, Self.bindToInterface, &index, size) != 0 else { return }
        let reason = "the socket can't be bound to the interface with index \(index): \(HTTPError.describe(errno))"
        throw .init(.interfaceNotFound, .neverSent, reason, errno: errno)
    }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: CInt = 62
}

extension GatePass {
    /// What an open gate says.
    init(_ binding: LocalBinding, _ addresses: [SocketAddress]?) {
        self.init(addresses: addresses?.compactMap { IPAddress($0) })
        if case .interfaceIndex(let index) = binding { interface = index }
    }
}
