import Glibc
import ReachabilityCore

/// The system's resolver: files, DNS and whatever else nsswitch.conf(5) names.
enum AddressInfo {
    /// What it answers.
    enum Answer: Sendable, Hashable {
        /// The addresses in the order of RFC 6724, without repetition.
        case addresses([IPAddress])
        /// A code of gai_strerror(3).
        case failure(Int32)
    }

    /// `EAI_NODATA`, which glibc declares for _GNU_SOURCE only.
    static let noData: Int32 = -5

    /// Finds a name's addresses; blocks for as long as the name servers take.
    ///
    /// The corresponding C function is `getaddrinfo`.
    @Sendable
    static func lookUp(_ name: String) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)  // One entry for an address instead of one for each type.
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else { return .failure(code) }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var entry = list
        while let info = entry?.pointee {
            if let address = address(info.ai_addr), !addresses.contains(address) { addresses.append(address) }
            entry = info.ai_next
        }
        return .addresses(addresses)
    }

    private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?) -> IPAddress? {
        guard let pointer else { return nil }
        let raw = UnsafeRawPointer(pointer)
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self)
            return .init(ipv4: UInt32(bigEndian: address.sin_addr.s_addr))
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return .init(family: .ipv6, bits: .init(bigEndian: unsafeBitCast(address, to: UInt128.self)))
        default:
            return nil
        }
    }
}
