import Glibc
import NIOCore

/// Looks names up as every program of the system does, by getaddrinfo(3); blocks.
///
/// Thus hosts file, mDNS, resolv.conf and all that nsswitch.conf(5) names.
///
/// Without AI_ADDRCONFIG, on purpose. That flag hides the addresses of a family of which the machine has none but
/// loopback's (so that `localhost` is not `::1` on most machines), takes a link-local address for connectivity, and turns
/// 'no route' into 'no such name'. Asking for both families costs no time, as the queries go out together; the sorting
/// puts addresses without a route last; and the kernel refuses those at once, with an error that says what is missing.
enum SystemLookUp {
    static func addresses(of name: String) -> NameAnswer { addresses(of: name, isNumeric: false) }

    /// Looks up a name, or only reads a numeric address (AI_NUMERICHOST), which does not block.
    static func addresses(of name: String, isNumeric: Bool) -> NameAnswer {
        var hints = addrinfo()
        hints.ai_flags = isNumeric ? AI_NUMERICHOST : 0
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        errno = 0
        let code = getaddrinfo(name, nil, &hints, &list)
        let failure = errno
        guard code == 0 else { return .failure(code: code, errno: failure) }
        defer { freeaddrinfo(list) }
        let entries = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }
        return .addresses(entries.compactMap { $0.flatMap { address($0.pointee) } })
    }

    private static func address(_ entry: addrinfo) -> SocketAddress? {
        guard let pointer = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET:
            return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { .init($0.pointee, host: "") }
        case AF_INET6:
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { .init($0.pointee, host: "") }
        default:
            return nil
        }
    }
}
