public import ReachabilityCore

/// A server whose answer tells whether a path leads to the internet.
///
/// Use a server of your own first: its answer says what your program needs to know, and no third party learns when your
/// machines change networks. There is no default.
public struct ValidationEndpoint: Sendable, Hashable {
    /// The question, and the answer that is expected.
    public let probe: Probe

    /// The kinds of questions.
    public enum Probe: Sendable, Hashable {
        /// `GET` of an `http` or `https` URL.
        case http(url: String, HTTPExpectation)
        /// A TLS handshake with a certificate that is trusted, and that has one of the pins if there are any.
        case tls(host: String, port: Int, pins: [String])
        /// A TCP connection.
        case tcp(host: String, port: Int)
        /// A DNS query for the IPv4 addresses of a name; without a server, to those of the system.
        case dns(name: String, server: IPAddress?, DNSExpectation)
    }

    /// The expected answer to an HTTP request.
    public enum HTTPExpectation: Sendable, Hashable {
        /// A status. Over plain `http`, a redirect, or a 2xx with a body, is no proof: a portal answers so, too.
        case status(Int)
        /// Status 200 and exactly this body, apart from white space at its end.
        case body(String)
    }

    /// The expected answer to a DNS query.
    public enum DNSExpectation: Sendable, Hashable {
        /// Any answer of a working server: addresses, or that the name does not exist.
        case anyAnswer
        /// Addresses that are all among these.
        case addresses(Set<IPAddress>)
        /// That the name does not exist, for a name that does not: some networks answer with an address of their own.
        case nameError
    }

    private init(_ probe: Probe) { self.probe = probe }

    /// An HTTP request; nil if the URL is not an absolute one with the scheme `http` or `https`.
    ///
    /// Plain `http` finds captive portals: they answer in place of the server. `https` proves the path, because nobody
    /// else has the server's key.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - expectation: The expected answer; status 204 by default.
    /// - Returns: The endpoint.
    public static func http(_ url: String, expecting expectation: HTTPExpectation = .status(204)) -> Self? {
        EndpointURL(url) == nil ? nil : .init(.http(url: url, expectation))
    }

    /// A TLS handshake, which proves the path without a request.
    ///
    /// - Parameters:
    ///   - host: The host's name or address.
    ///   - port: The port.
    ///   - pins: Hashes of public keys (`sha256/…`), one of which must be in the validated chain; none for any.
    /// - Returns: The endpoint.
    public static func tls(_ host: String, port: Int = 443, pins: [String] = []) -> Self {
        .init(.tls(host: host, port: port, pins: pins))
    }

    /// A TCP connection: weak evidence, because a portal may accept connections to any server.
    public static func tcp(_ host: String, port: Int) -> Self { .init(.tcp(host: host, port: port)) }

    /// A DNS query: weak evidence, because the network's own name server answers it.
    public static func dns(
        _ name: String,
        server: IPAddress? = nil,
        expecting expectation: DNSExpectation = .anyAnswer
    ) -> Self { .init(.dns(name: name, server: server, expectation)) }
}

extension ValidationEndpoint {
    /// The IPv4 address by which the endpoint, or the name server to ask, is given; nil for a name or an IPv6 address.
    package var ipv4Address: IPAddress? {
        let address: IPAddress? =
            switch probe {
            case .http(let url, _): EndpointURL(url).flatMap { IPAddress($0.host) }
            case .tls(let host, _, _), .tcp(let host, _): IPAddress(host)
            case .dns(_, let server, _): server
            }
        return address?.family == .ipv4 ? address : nil
    }

    /// The value of `Host` in HTTP requests (RFC 9110, 7.2); nil for other endpoints.
    package var hostField: String? {
        if case .http(let url, _) = probe { EndpointURL(url)?.authority } else { nil }
    }

    /// Returns the same endpoint, given by another address.
    package func located(at address: IPAddress) -> Self {
        switch probe {
        case .http(let url, let expectation):
            .init(.http(url: EndpointURL(url)?.text(at: "\(address)") ?? url, expectation))
        case .tls(_, let port, let pins): .init(.tls(host: "\(address)", port: port, pins: pins))
        case .tcp(_, let port): .init(.tcp(host: "\(address)", port: port))
        case .dns(let name, _, let expectation): .init(.dns(name: name, server: address, expectation))
        }
    }
}

extension ValidationEndpoint: CustomStringConvertible {
    /// The endpoint as a user would write it, without user information.
    public var description: String {
        switch probe {
        case .http(let url, _): EndpointURL(url)?.text ?? url
        case .tls(let host, let port, _): "tls://\(Self.bracketed(host)):\(port)"
        case .tcp(let host, let port): "tcp://\(Self.bracketed(host)):\(port)"
        case .dns(let name, let server, _): server.map { "dns://\(Self.bracketed("\($0)"))/\(name)" } ?? "dns:\(name)"
        }
    }

    fileprivate static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}

/// The parts of an `http` or `https` URL that decide what an answer to it means (RFC 3986).
package struct EndpointURL: Sendable, Hashable {
    /// Whether the scheme is `https`.
    package let isSecure: Bool
    /// The host in lower case, with its port if it is not the scheme's.
    package let authority: String
    /// The path and the query; at least `/`.
    package let target: String

    /// Parses an absolute URL without user information; a fragment is dropped.
    package init?(_ text: String) {
        let isPrintable = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard isPrintable, let (scheme, rest) = text.split(around: "://") else { return nil }
        switch scheme.lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        let whole = rest.prefix { $0 != "#" }
        let authority = whole.prefix { $0 != "/" && $0 != "?" }
        guard let name = Self.normalized(authority.lowercased(), isSecure ? "443" : "80") else { return nil }
        self.authority = name
        let target = whole.dropFirst(authority.count)
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
    }

    /// Removes the port of the scheme; nil without a host, with user information, or with a port that is none.
    private static func normalized(_ authority: String, _ ownPort: String) -> String? {
        guard !authority.contains("@") else { return nil }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let port = authority.dropFirst(host.count)
        guard host.count > (host.hasPrefix("[") ? 2 : 0), authority.hasPrefix(host) else { return nil }
        if port.isEmpty || port == ":" || port == ":" + ownPort { return String(host) }
        guard port.hasPrefix(":"), let number = UInt16(port.dropFirst()), number > 0 else { return nil }
        return authority
    }

    /// The host, without the brackets of an IPv6 address.
    package var host: String {
        authority.hasPrefix("[")
            ? String(authority.dropFirst().prefix { $0 != "]" }) : String(authority.prefix { $0 != ":" })
    }

    /// Returns the URL with another host.
    package func text(at host: String) -> String {
        let port = authority.dropFirst(ValidationEndpoint.bracketed(self.host).count)
        return (isSecure ? "https://" : "http://") + ValidationEndpoint.bracketed(host) + port + target
    }

    /// The URL.
    package var text: String { (isSecure ? "https://" : "http://") + authority + target }

    /// Returns the URL to which a reference leads, as the value of `Location` (RFC 3986, 5.2); nil for other schemes.
    package func resolving(_ reference: String) -> Self? {
        let origin = (isSecure ? "https://" : "http://") + authority
        if reference.hasPrefix("//") { return Self((isSecure ? "https:" : "http:") + reference) }
        if reference.hasPrefix("/") { return Self(origin + reference) }
        if reference.split(around: "://") != nil { return Self(reference) }
        let path = target.prefix { $0 != "?" }
        if reference.hasPrefix("?") { return Self(origin + path + reference) }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return Self(origin + folder + reference)
    }
}

extension String {
    /// Splits at the first occurrence of a separator; nil if there is none, or if what precedes it is no scheme.
    fileprivate func split(around separator: String) -> (Substring, Substring)? {
        let scheme = prefix { $0.isLetter || $0.isNumber || $0 == "+" || $0 == "-" || $0 == "." }
        let rest = dropFirst(scheme.count)
        guard !scheme.isEmpty, rest.hasPrefix(separator) else { return nil }
        return (scheme, rest.dropFirst(separator.count))
    }
}
