import NetworkClientCore

/// A proxy server: its address, its protocol and the credentials for it.
///
/// ```swift
/// let configuration = HTTPConfiguration(proxy: .all(try ProxyServer("http://me:secret@proxy.example.com:3128")))
/// ```
/// No description of it shows the password.
public struct ProxyServer: Sendable, Hashable {
    /// The protocol of a proxy.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP: `http` requests are forwarded, `https` uses a tunnel (CONNECT, RFC 9110, 9.3.6).
        case http
        /// The same, over TLS with the proxy itself.
        case https
        /// SOCKS 5 (RFC 1928); the origin's name is looked up by this client.
        case socks5
        /// SOCKS 5; the origin's name is looked up by the proxy.
        case socks5h
    }

    // A single reference, so that requests without a proxy store no more than that.
    private let fields: Fields

    private final class Fields: Sendable {
        let scheme: Scheme
        let host: String
        let port: Int
        let user: String?
        let password: String?

        init(_ scheme: Scheme, _ host: String, _ port: Int, _ user: String?, _ password: String?) {
            (self.scheme, self.host, self.port) = (scheme, host, port)
            (self.user, self.password) = (user, password)
        }
    }

    /// The protocol.
    public var scheme: Scheme { fields.scheme }
    /// Its name in its ASCII form and lower case, or its address without brackets.
    public var host: String { fields.host }
    /// Its port.
    public var port: Int { fields.port }
    /// The user name; nil for no authentication.
    public var user: String? { fields.user }
    /// The password; empty if there is a user name and no password.
    public var password: String? { fields.password }

    /// Makes a proxy from parts, which are described at the properties.
    ///
    /// - Throws: ``HTTPError`` with code ``HTTPError/Code/invalidConfiguration``.
    public init(
        _ scheme: Scheme,
        host: String,
        port: Int,
        user: String? = nil,
        password: String? = nil
    ) throws(HTTPError) {
        let written = host.hasPrefix("[") ? host : HostText.host(host)
        let name = try ProxyText.host(written)
        guard 1...65_535 ~= port else {
            throw ProxyText.error("the port \(port) is none: it is a number from 1 to 65535")
        }
        try self.init(checked: scheme, name, port, user, password)
    }

    init(
        checked scheme: Scheme,
        _ host: String,
        _ port: Int,
        _ user: String?,
        _ password: String?
    ) throws(HTTPError) {
        let password = user == nil ? nil : password ?? ""
        fields = Fields(scheme, host, port, user, password)
        guard let login else { return }
        if scheme.isSOCKS {
            guard login.fits else {
                throw ProxyText.error("SOCKS takes a user name of 1 to 255 bytes, and a password of at most 255")
            }
        } else if login.user.contains(":") {
            throw ProxyText.error("a user name can't have a colon, behind which the password begins (RFC 7617, 2)")
        }
    }

    /// Parses `http://[user:password@]host[:port]`, or the same with `https`, `socks5` or `socks5h`, as curl does.
    ///
    /// The default scheme is `http`. The default port is 443 for `https` and 1080 for all others. Anything after the
    /// port is ignored. User name and password may be percent-encoded.
    ///
    /// - Throws: ``HTTPError`` with code ``HTTPError/Code/invalidConfiguration``; its reason says what is wrong and
    ///   what to write, and contains neither user name nor password.
    public init(_ text: String) throws(HTTPError) { self = try ProxyText.server(text) }

    /// Returns whether all parts are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.fields === right.fields
            || (left.scheme == right.scheme && left.host == right.host && left.port == right.port
                && left.user == right.user && left.password == right.password)
    }

    /// Hashes all parts except for the password.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(user)
    }
}

extension ProxyServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Scheme, host and port.
    public var description: String { "\(scheme.rawValue)://\(HostText.hostAndPort(host, port))" }

    /// Scheme, host and port.
    public var debugDescription: String { description }

    /// No children, so that the credentials are not shown.
    public var customMirror: Mirror { .init(self, children: []) }
}

extension ProxyServer.Scheme {
    /// Whether it is a version of SOCKS.
    var isSOCKS: Bool { self == .socks5 || self == .socks5h }
}

extension ProxyServer {
    /// The credentials for SOCKS.
    var login: SOCKS5Dialogue.Login? { user.map { .init(user: $0, password: password ?? "") } }
}

/// Parses the text forms of proxies.
enum ProxyText {
    private static let howTo =
        "write http://host:port (or https, socks5, socks5h), with user:password@ before the host where it wants that"

    static func error(_ reason: String) -> HTTPError {
        .init(.invalidConfiguration, processing: .neverSent, reason: "this is no proxy: \(reason)")
    }

    /// Reads a proxy.
    static func server(_ text: String) throws(HTTPError) -> ProxyServer {
        let (scheme, rest) = try split(text)
        let authority = try self.authority("//\(rest)", isSecure: false)
        // An explicit port is the same, whatever the default of the scheme.
        let isWritten = try self.authority("//\(rest)", isSecure: true).port == authority.port
        let port = isWritten ? authority.port : scheme == .https ? 443 : 1_080
        return try .init(checked: scheme, authority.host, port, authority.user, authority.password)
    }

    /// Parses a host alone.
    static func host(_ text: String) throws(HTTPError) -> String {
        guard !text.contains(where: { "@/?#".contains($0) }) else { throw error("its host is none; \(howTo)") }
        return try authority("//\(text)", isSecure: false).host
    }

    private static func split(_ text: String) throws(HTTPError) -> (ProxyServer.Scheme, Substring) {
        guard let mark = text.firstRange(of: "://") else { return (.http, text[...]) }
        let name = text[..<mark.lowerBound].lowercased()
        guard let scheme = ProxyServer.Scheme(rawValue: name) else {
            // The text before '://' may be a password with a slash in it.
            let isName = name.utf8.allSatisfy { URLBytes.isSchemeByte($0) }
            throw error("\(isName ? "'\(name)'" : "its scheme") is not among those that are spoken; \(howTo)")
        }
        return (scheme, text[mark.upperBound...])
    }

    private static func authority(_ reference: String, isSecure: Bool) throws(HTTPError) -> URLAuthority {
        do throws(HTTPError) {
            return try URLAuthority(URLReference(reference), isSecure: isSecure)
        } catch {
            // The reason is worded for URLs, and contains no user information.
            let words = error.reason.replacing("the URL's", with: "its").replacing("the URL", with: "it")
            throw self.error("\(words); \(howTo)")
        }
    }
}
