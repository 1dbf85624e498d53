import Glibc
import NIOCore
import Reachability
import ReachabilityCore
import RequestGate

/// Looks up the paths to addresses; a few microseconds each.
struct PathLookup {
    let cache: PathCache

    /// Returns the paths to addresses, in their order, for a socket with a requirement.
    ///
    /// - Throws: The error of ``Connectivity/path(to:requiring:)``.
    func paths(to addresses: [SocketAddress], _ requirement: PathRequirement) throws -> [DestinationPath?] {
        try addresses.map { address in
            guard let destination = IPAddress(address) else { return nil }
            guard let zone = address.zone else {
                return try cache.path(to: destination, requiring: requirement)
            }
            return try path(to: destination, in: zone, requirement)
        }
    }

    /// Looks up the path to a link-local address, which is valid on one link only; that link must itself meet the
    /// requirement.
    private func path(
        to destination: IPAddress,
        in zone: String,
        _ requirement: PathRequirement
    ) throws -> DestinationPath {
        var path = try cache.path(to: destination, requiring: .interface(zone))
        guard path.isReachable, let interface = path.interface,
            !requirement.allows(interface, over: path.carriers, isExpensive: path.isExpensive)
        else { return path }
        path.status = .notReachable
        path.reasons = [.notAllowed]
        path.ruledOut = [.init(interface, .notAllowed)]
        return path
    }

    /// Returns the default path that meets a requirement, for IPv4 or else IPv6, or the reasons why there is none.
    func defaultPath(_ requirement: PathRequirement) throws -> DestinationPath? {
        var refusal: DestinationPath?
        for probe in [ProbeAddresses.ipv4, ProbeAddresses.ipv6].compactMap(\.first) {
            let path = try cache.path(to: probe, requiring: requirement)
            if path.isReachable { return path }
            refusal = refusal ?? path
        }
        return refusal
    }
}

extension RouteResult {
    /// Converts a path to the gate's input.
    init(_ path: DestinationPath?) {
        guard let path, path.isReachable else {
            self = .none
            return
        }
        self = path.staysOnThisMachine ? .local : path.interface.map { .interface($0.index) } ?? .none
    }
}

extension IPAddress {
    /// The address without port and zone; nil for a Unix socket.
    ///
    /// An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) becomes an IPv4 address, as in the kernel.
    init?(_ address: SocketAddress) {
        guard let bits = address.withSockAddr({ pointer, _ in SocketAddress.addressBits(UnsafeRawPointer(pointer)) })
        else { return nil }
        switch bits {
        case .ipv4(let value): self.init(ipv4: value)
        case .ipv6(let value) where value >> 32 == 0xFFFF: self.init(ipv4: UInt32(truncatingIfNeeded: value))
        case .ipv6(let value): self.init(family: .ipv6, bits: value)
        }
    }
}

extension SocketAddress {
    fileprivate enum AddressBits {
        case ipv4(UInt32)
        case ipv6(UInt128)
    }

    /// Reads a `struct sockaddr_in` or `sockaddr_in6` (ip(7), ipv6(7)) as raw bytes, because the C module that its
    /// fields belong to depends on the order of imports.
    fileprivate static func addressBits(_ pointer: UnsafeRawPointer) -> AddressBits? {
        switch Int32(pointer.loadUnaligned(as: UInt16.self)) {
        case AF_INET: .ipv4(UInt32(bigEndian: pointer.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        case AF_INET6: .ipv6(UInt128(bigEndian: pointer.loadUnaligned(fromByteOffset: 8, as: UInt128.self)))
        default: nil
        }
    }

    /// The interface of a link-local IPv6 address; nil for an address that is valid everywhere.
    ///
    /// `sin6_scope_id`, ipv6(7).
    fileprivate var zone: String? {
        let index: UInt32 = withSockAddr { pointer, _ in
            let raw = UnsafeRawPointer(pointer)
            guard Int32(raw.loadUnaligned(as: UInt16.self)) == AF_INET6 else { return 0 }
            return raw.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
        }
        guard index != 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            if_indextoname(index, buffer.baseAddress).map { String(cString: $0) } ?? ""
        }
    }
}
