import ReachabilityCore

/// The hosts that are reached without a proxy: a list as in the variable `no_proxy`, with curl's rules.
///
/// - Entries are separated by commas or blanks.
/// - A name matches itself and all its subdomains: `example.com` matches `www.example.com`, but not `nonexample.com`.
///   Case is ignored, and so are a leading dot and a trailing dot.
/// - An address matches itself, and with a prefix length (`192.168.0.0/16`, `2001:db8::/32`) its network. IPv6 is
///   written without brackets. Names are not resolved for this.
/// - A list that consists only of `*` matches all hosts. There is no other wildcard.
/// - Ports and schemes can't be distinguished.
///
/// There are no other exceptions: `localhost` and 127.0.0.1 use the proxy unless the list contains them.
///
/// See CURLOPT_NOPROXY(3). As in curl, a prefix length of 0 means the whole address, and an entry of any other form
/// matches nothing.
public struct ProxyExceptions: Sendable, Hashable {
    /// The list as it was given.
    public let text: String
    private let isEverything: Bool
    private let names: [[UInt8]]
    private let networks: [IPPrefix]

    /// Parses a list.
    ///
    /// Any text is valid.
    public init(_ text: String) {
        self.text = text
        isEverything = text == "*"
        let entries = text.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        names = entries.map(Self.name)
        networks = entries.compactMap { Self.network(String(Substring($0))) }
    }

    /// No exceptions.
    public static let none = Self("")

    /// Whether a host is reached without a proxy.
    ///
    /// - Parameter host: A name in its ASCII form and lower case, or an address without brackets. The zone of an IPv6
    ///   address is ignored.
    /// - Returns: Whether the list contains the host.
    public func contains(_ host: String) -> Bool {
        if isEverything { return true }
        guard !names.isEmpty else { return false }
        let address = host.utf8.contains(UInt8(ascii: "%")) ? String(host.prefix { $0 != "%" }) : host
        if let address = IPAddress(address) { return networks.contains { $0.contains(address) } }
        let name = host.utf8.last == UInt8(ascii: ".") ? host.utf8.dropLast() : host.utf8[...]
        return names.contains { Self.name(name, isWithin: $0) }
    }

    private static func name(_ name: Substring.UTF8View, isWithin domain: [UInt8]) -> Bool {
        guard name.count >= domain.count, name.suffix(domain.count).elementsEqual(domain) else { return false }
        return name.count == domain.count || name.dropLast(domain.count).last == UInt8(ascii: ".")
    }

    private static func name(_ entry: Substring.UTF8View) -> [UInt8] {
        var name = entry
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        if name.first == UInt8(ascii: ".") { name = name.dropFirst() }
        return name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    private static func network(_ entry: String) -> IPPrefix? {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let whole: UInt8 = address.family == .ipv4 ? 32 : 128
        guard parts.count > 1 else { return .init(address, length: whole) }
        let isNumber = parts[1].utf8.allSatisfy { $0.isASCIIDigit }
        guard isNumber, let length = UInt8(parts[1]), length <= whole else { return nil }
        return .init(address, length: length == 0 ? whole : length)
    }
}

/// The proxy settings of the environment, read as curl reads them.
///
/// | for | the first of these that is set and not empty |
/// |---|---|
/// | `http` | `http_proxy`, `all_proxy`, `ALL_PROXY` |
/// | `https` | `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY` |
/// | exceptions | `no_proxy`, `NO_PROXY` |
///
/// `HTTP_PROXY` is not read: in a CGI program (RFC 3875, 4.1.18), a client can set that variable by sending a `Proxy`
/// field.
package struct ProxyEnvironment: Sendable, Hashable {
    /// A variable and its value.
    package struct Setting: Sendable, Hashable {
        /// The name of the variable.
        package let variable: String
        /// The value, which may contain a password.
        package let value: String
    }

    /// The proxy for `http` URLs.
    package let http: Setting?
    /// The proxy for `https` URLs.
    package let https: Setting?
    /// The hosts that are reached without a proxy.
    package let exceptions: Setting?

    /// Reads the environment's variables.
    ///
    /// - Parameter value: Returns the value of a variable; nil if it is not set.
    package init(_ value: (String) -> String?) {
        func first(_ names: String...) -> Setting? {
            for name in names {
                if let value = value(name), !value.isEmpty { return .init(variable: name, value: value) }
            }
            return nil
        }
        http = first("http_proxy", "all_proxy", "ALL_PROXY")
        https = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        exceptions = first("no_proxy", "NO_PROXY")
    }
}

extension ProxyEnvironment.Setting: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The variable's name.
    package var description: String { variable }
    /// The same as ``description``.
    package var debugDescription: String { description }
    /// A mirror without children: the value may contain a password.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
