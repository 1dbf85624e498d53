import LinuxSystem
import NIOCore

/// The system's resolver, with addresses as SwiftNIO has them.
enum SystemLookUp {
    /// Looks up a name's addresses; blocks for as long as the name servers take.
    static func addresses(of name: String) -> NameAnswer { addresses(of: name, isNumeric: false) }

    /// Looks up a name's addresses, or only parses a numeric address, which doesn't block.
    static func addresses(of name: String, isNumeric: Bool) -> NameAnswer {
        switch AddressLookup.addresses(of: name, isNumeric: isNumeric) {
        case .addresses(let addresses): .addresses(addresses.map(SocketAddress.init))
        case .failure(let code, let errno): .failure(code: code, errno: errno)
        }
    }
}

extension SocketAddress {
    /// Creates an address with port 0.
    fileprivate init(_ resolved: ResolvedAddress) {
        switch resolved.socketAddress {
        case .ipv4(let address): self.init(address, host: "")
        case .ipv6(let address): self.init(address, host: "")
        }
    }
}
