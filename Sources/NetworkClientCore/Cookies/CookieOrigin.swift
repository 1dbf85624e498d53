/// The parts of a request's URL that decide which cookies belong to it.
package struct CookieOrigin: Sendable, Hashable {
    /// The host in lower case, without brackets, zone and final dot.
    package let host: String
    /// The path, without the query.
    package let path: String
    /// Whether the scheme is https or wss.
    package let isSecure: Bool
    /// Whether the host is an address, which has no subdomains.
    package let isAddress: Bool

    /// Creates an origin.
    ///
    /// - Parameters:
    ///   - host: The host as in ``HTTPURL``: in its ASCII form and lower case; an IPv6 address without brackets.
    ///   - target: The path, with or without a query.
    ///   - isSecure: Whether the scheme is https or wss.
    package init(host: String, target: String, isSecure: Bool) {
        let host = HostText.withoutZone(host)
        self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
        path = String(target.prefix { $0 != "?" })
        self.isSecure = isSecure
        isAddress = CookieDomain.isAddress(self.host)
    }

    /// The path of cookies without one (RFC 6265bis, 5.1.4): the URL's path up to its last slash.
    package var defaultPath: String {
        guard path.hasPrefix("/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    /// Returns whether the URL's path is a cookie's path or below it (RFC 6265bis, 5.1.4).
    package func matches(path cookiePath: String) -> Bool { Self.path(path, matches: cookiePath) }

    /// Returns whether a path is the same as another one, or below it.
    static func path(_ path: String, matches cookiePath: String) -> Bool {
        let path = path.utf8
        let cookiePath = cookiePath.utf8
        guard path.starts(with: cookiePath) else { return false }
        if path.count == cookiePath.count || cookiePath.last == UInt8(ascii: "/") { return true }
        return path.dropFirst(cookiePath.count).first == UInt8(ascii: "/")
    }
}

/// The domains of cookies.
package enum CookieDomain {
    /// Returns whether a host is an address: an IPv6 one, or a name whose last label is a number.
    package static func isAddress(_ host: String) -> Bool {
        if host.contains(":") { return true }
        let last = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last
        return last.map { !$0.isEmpty && $0.allSatisfy(\.isASCIIDigit) } ?? false
    }

    /// Returns whether a host is a domain or one of its subdomains (RFC 6265bis, 5.1.3).
    package static func host(_ host: String, matches domain: String) -> Bool {
        if host == domain { return true }
        let (bytes, end) = (host.utf8, domain.utf8)
        guard bytes.count > end.count, !end.isEmpty, bytes.suffix(end.count).elementsEqual(end) else { return false }
        return bytes.dropLast(end.count).last == UInt8(ascii: ".") && !isAddress(host)
    }
}
