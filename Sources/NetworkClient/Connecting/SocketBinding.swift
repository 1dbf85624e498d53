import Glibc
import NIOCore
import NIOPosix
import NetworkClientCore

/// The local binding of a socket, resolved to the values that the kernel takes.
struct SocketBinding {
    /// The interface's index, or nil.
    private let interface: Int32?
    /// The source address, with port 0, or nil.
    private let address: SocketAddress?

    /// Resolves the interface in the network namespace of the calling thread.
    ///
    /// - Throws: `interfaceNotFound`, or `invalidConfiguration` for an invalid address.
    init(_ binding: LocalBinding) throws(HTTPError) {
        switch binding {
        case .unbound:
            (interface, address) = (nil, nil)
        case .interface(let name):
            (interface, address) = (try Self.index(of: name), nil)
        case .interfaceIndex(let index):
            try Self.check(index)
            (interface, address) = (index, nil)
        case .address(let text):
            (interface, address) = (nil, try Self.source(text))
        }
    }

    private static func source(_ text: String) throws(HTTPError) -> SocketAddress {
        do throws(HTTPError) {
            return try .numeric(text, port: 0)
        } catch {
            guard error.code == .invalidURL else { throw error }
            throw .init(
                .invalidConfiguration,
                processing: .neverSent,
                reason: "'\(text)' is no numeric address to bind to: write one of this machine's, as in 192.0.2.2"
            )
        }
    }

    /// if_nametoindex(3).
    private static func index(of name: String) throws(HTTPError) -> Int32 {
        let index = if_nametoindex(name)
        guard index > 0 else {
            throw .init(
                .interfaceNotFound,
                processing: .neverSent,
                reason: "there is no interface '\(name)' to bind to: 'ip link' lists the interfaces",
                errno: ENODEV
            )
        }
        return Int32(index)
    }

    /// if_indextoname(3); the kernel accepts any index for SO_BINDTOIFINDEX, and reports 'no route' later.
    private static func check(_ index: Int32) throws(HTTPError) {
        let exists = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            index > 0 && if_indextoname(UInt32(index), buffer.baseAddress) != nil
        }
        guard exists else {
            throw .init(
                .interfaceNotFound,
                processing: .neverSent,
                reason: "there is no interface with index \(index) to bind to: 'ip link' lists the interfaces",
                errno: ENODEV
            )
        }
    }

    /// Returns the addresses that have the family of the source address.
    ///
    /// - Throws: `addressNotAvailable` if there are none.
    func reachable(_ addresses: [SocketAddress], of endpoint: Endpoint) throws(HTTPError) -> [SocketAddress] {
        guard let address, endpoint.socketPath == nil else { return addresses }
        let same = addresses.filter { $0.protocol == address.protocol }
        guard same.isEmpty else { return same }
        throw .init(
            .addressNotAvailable,
            processing: .neverSent,
            reason: """
                \(endpoint.text) can't be reached from \(address.ipAddress ?? "the source address"), \
                since it has no address of that family: bind to another address, or to an interface
                """,
            errno: EADDRNOTAVAIL
        )
    }

    /// The size of the read buffer: small at first, and larger when a large response fills it.
    ///
    /// With a maximum of 64 KiB, reads took half of the processor time of a large download.
    private static let pieces = AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 262_144)

    /// Sets the options of a socket; those of Unix sockets only concern reading.
    func apply(to bootstrap: ClientBootstrap, isUnix: Bool) -> ClientBootstrap {
        var bootstrap = bootstrap.channelOption(.recvAllocator, value: Self.pieces)
        guard !isUnix else { return bootstrap }
        bootstrap = bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1)
        if let interface {
            bootstrap = bootstrap.channelOption(.socketOption(.bindToInterface), value: .init(interface))
        }
        if let address {
            bootstrap = bootstrap.channelOption(.ipOption(.bindAddressNoPort), value: 1).bind(to: address)
        }
        return bootstrap
    }
}

extension NIOBSDSocket.Option {
    /// SO_BINDTOIFINDEX, which needs no privilege; socket(7).
    fileprivate static let bindToInterface = Self(rawValue: 62)
    /// IP_BIND_ADDRESS_NO_PORT: the port is chosen when the destination is known; ip(7).
    ///
    /// So connections to several destinations can share a port. Holds for IPv6 sockets too.
    fileprivate static let bindAddressNoPort = Self(rawValue: 24)
}
