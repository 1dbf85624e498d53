import ReachabilityCore

/// Who a certificate has to be for: a host's name, or an address.
struct ServerName: Sendable, Hashable {
    /// The name in small letters, without the dot that ends an absolute one; nil for an address.
    var hostName: String?
    /// The address without its zone; nil for a name.
    var address: String?

    /// Takes what a URL has for a host: brackets, a zone and a last dot say nothing about who that is.
    init(_ host: String) {
        var text = host[...]
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let zone = text.firstIndex(of: "%"), let parsed = IPAddress(String(text[..<zone])) {
            address = parsed.description
        } else if let parsed = IPAddress(String(text)) {
            address = parsed.description
        } else {
            hostName = String(text.hasSuffix(".") ? text.dropLast() : text).lowercased()
        }
    }

    /// The name or the address.
    var text: String { hostName ?? address ?? "" }
}

extension ServerName {
    /// An address as a certificate holds it, for people.
    static func text(ofAddress octets: ArraySlice<UInt8>) -> String {
        let bits = octets.reduce(into: UInt128(0)) { $0 = $0 << 8 | UInt128($1) }
        switch octets.count {
        case 4: return IPAddress(ipv4: UInt32(truncatingIfNeeded: bits)).description
        case 16: return IPAddress(family: .ipv6, bits: bits).description
        default: return "an address of \(octets.count) bytes"
        }
    }
}
