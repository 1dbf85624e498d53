package import Glibc
package import ReachabilityCore

/// The system's resolver: the hosts file, DNS, and the other sources that nsswitch.conf(5) names.
package enum AddressLookup {
    /// The outcome of a lookup.
    package enum Outcome: Sendable, Hashable {
        /// The addresses, without repetition, in the order in which to try them (RFC 6724).
        case addresses([ResolvedAddress])
        /// A code of gai_strerror(3), and the errno that came with it.
        case failure(code: Int32, errno: Int32)
    }

    /// `EAI_NODATA`, which glibc returns but declares only for `_GNU_SOURCE`.
    package static let noData: Int32 = -5

    /// Looks up a name's addresses; blocks for as long as the name servers take.
    ///
    /// The corresponding C function is `getaddrinfo`. It is called without `AI_ADDRCONFIG`, which would hide the
    /// addresses of a family in which the machine has none but loopback's, and turn 'no route' into 'no such name'.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - isNumeric: Whether to only parse an address (`AI_NUMERICHOST`), which does not block.
    /// - Returns: The addresses, or why there are none.
    package static func addresses(of name: String, isNumeric: Bool = false) -> Outcome {
        var hints = addrinfo()
        hints.ai_flags = isNumeric ? AI_NUMERICHOST : 0
        // One entry for each address, instead of one for each type of socket.
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        errno = 0
        let code = getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else { return .failure(code: code, errno: errno) }
        defer { freeaddrinfo(list) }
        var addresses: [ResolvedAddress] = []
        var entry = list
        while let info = entry?.pointee {
            if let address = ResolvedAddress(info.ai_addr), !addresses.contains(address) { addresses.append(address) }
            entry = info.ai_next
        }
        return .addresses(addresses)
    }

    /// Looks up the name of an address; blocks for as long as the name servers take.
    ///
    /// The corresponding C function is `getnameinfo`.
    ///
    /// - Returns: The name; nil if there is none, or it cannot be looked up.
    package static func name(of address: ResolvedAddress) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = address.withSocketAddress { pointer, size in
            getnameinfo(pointer, size, &buffer, socklen_t(buffer.count), nil, 0, NI_NAMEREQD)
        }
        guard code == 0 else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Looks up a name on a thread of its own, as nothing interrupts getaddrinfo(3).
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - namespace: The network namespace from which to ask the name servers; nil for the process's own.
    ///   - completion: Called on the thread with the outcome, or with why the namespace cannot be entered. A caller whose
    ///     deadline has passed ignores the call.
    /// - Throws: The error number of pthread_create(3).
    package static func start(
        _ name: String,
        in namespace: NetworkNamespaceFile? = nil,
        completion: @escaping @Sendable (Result<Outcome, SystemError>) -> Void
    ) throws(SystemError) {
        try SystemThread.detach("netwatch-lookup", stackSize: stackSize) {
            do throws(SystemError) {
                try namespace?.enter()
                completion(.success(addresses(of: name)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// The stack of a lookup's thread: name service modules have taken a few hundred kilobytes.
    package static let stackSize = 1 << 20
}

/// An address that the system's resolver returned.
package struct ResolvedAddress: Sendable, Hashable {
    /// The address.
    package let address: IPAddress
    /// The interface of a link-local IPv6 address (`fe80::1%eth0`); 0 if none is named.
    package let scope: UInt32

    /// Creates an address from that of a socket; nil if it is of neither family.
    package init?(_ pointer: UnsafeMutablePointer<sockaddr>?) {
        guard let pointer else { return nil }
        let raw = UnsafeRawPointer(pointer)
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            self.init(.init(ipv4: UInt32(bigEndian: address.sin_addr.s_addr)), scope: 0)
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self)
            let bits = unsafeBitCast(address.sin6_addr, to: UInt128.self)
            self.init(.init(family: .ipv6, bits: .init(bigEndian: bits)), scope: address.sin6_scope_id)
        default:
            return nil
        }
    }

    /// The address as socket functions take it.
    package enum SocketAddress {
        case ipv4(sockaddr_in)
        case ipv6(sockaddr_in6)
    }

    /// The address as socket functions take it, with port 0.
    package var socketAddress: SocketAddress {
        switch address.family {
        case .ipv4:
            var result = sockaddr_in()
            result.sin_family = sa_family_t(AF_INET)
            result.sin_addr.s_addr = address.ipv4Value.bigEndian
            return .ipv4(result)
        case .ipv6:
            var result = sockaddr_in6()
            result.sin6_family = sa_family_t(AF_INET6)
            result.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &result.sin6_addr) {
                $0.storeBytes(of: address.bits.bigEndian, as: UInt128.self)
            }
            return .ipv6(result)
        }
    }

    /// Calls a closure with the address as the C library's functions take it.
    package func withSocketAddress<Value>(
        port: UInt16 = 0,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        switch socketAddress {
        case .ipv4(var address):
            address.sin_port = port.bigEndian
            return Self.lend(&address, body)
        case .ipv6(var address):
            address.sin6_port = port.bigEndian
            return Self.lend(&address, body)
        }
    }

    private static func lend<Address, Value>(
        _ address: inout Address,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                body(pointer, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// Creates an address.
    package init(_ address: IPAddress, scope: UInt32 = 0) {
        self.address = address
        self.scope = scope
    }
}
