import NetworkClientCore

/// A proxy: where it is, what it speaks, and as whom to appear.
///
/// ```swift
/// let configuration = HTTPConfiguration(proxy: .all(try ProxyServer("http://me:secret@proxy.example.com:3128")))
/// ```
/// No description of it shows the password.
public struct ProxyServer: Sendable, Hashable {
    /// What a proxy speaks.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP: `http` requests are handed to it, for `https` it opens a tunnel (RFC 9110, 9.3.6).
        case http
        /// The same, over TLS with the proxy itself.
        case https
        /// SOCKS 5 (RFC 1928); the origin's name is looked up here.
        case socks5
        /// SOCKS 5; the proxy looks the origin's name up.
        case socks5h
    }

    // One word, so that anyone who has no proxy carries no more than that.
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

    /// What it speaks.
    public var scheme: Scheme { fields.scheme }
    /// Its name in its ASCII form and lower case, or its address without brackets.
    public var host: String { fields.host }
    /// Its port.
    public var port: Int { fields.port }
    /// As whom to appear; nil for as nobody.
    public var user: String? { fields.user }
    /// The password to that; empty if there is a user and none.
    public var password: String? { fields.password }

    /// Makes a proxy of parts; the parameters are as the properties have them.
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

    /// Reads `http://[user:password@]host[:port]`, or the same with `https`, `socks5` or `socks5h`, as curl does.
    ///
    /// Without a scheme it is `http`. Without a port it is 443 for `https` and 1080 for all others. What follows behind
    /// the port is ignored. `%` and two digits stand for a byte in user name and password.
    ///
    /// - Throws: ``HTTPError`` with code ``HTTPError/Code/invalidConfiguration``; it says what is wrong and what to
    ///   write, and shows neither user name nor password.
    public init(_ text: String) throws(HTTPError) { self = try ProxyText.server(text) }

    /// Whether both are the same in all parts.
    public static func == (left: Self, right: Self) -> Bool {
        left.fields === right.fields
            || (left.scheme == right.scheme && left.host == right.host && left.port == right.port
                && left.user == right.user && left.password == right.password)
    }

    /// Hashes what tells one from another, the password left out.
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

    /// The same.
    public var debugDescription: String { description }

    /// The same: nothing within is shown.
    public var customMirror: Mirror { .init(self, children: []) }
}

extension ProxyServer.Scheme {
    /// Whether it is a version of SOCKS.
    var isSOCKS: Bool { self == .socks5 || self == .socks5h }
}

extension ProxyServer {
    /// What SOCKS is told of the user.
    var login: SOCKS5Dialogue.Login? { user.map { .init(user: $0, password: password ?? "") } }
}

/// Reads what people write for a proxy.
enum ProxyText {
    private static let howTo =
        "write http://host:port (or https, socks5, socks5h), with user:password@ before the host where it wants that"

    static func error(_ reason: String) -> HTTPError {
        .init(.invalidConfiguration, .neverSent, "this is no proxy: \(reason)")
    }

    /// Reads a proxy.
    static func server(_ text: String) throws(HTTPError) -> ProxyServer {
        let (scheme, rest) = try split(text)
        let authority = try self.authority("//\(rest)", isSecure: false)
        // A port that is written is the same whatever the scheme's own is.
        let isWritten = try self.authority("//\(rest)", isSecure: true).port == authority.port
        let port = isWritten ? authority.port : scheme == .https ? 443 : 1_080
        return try .init(checked: scheme, authority.host, port, authority.user, authority.password)
    }

    /// Reads a host alone.
    static func host(_ text: String) throws(HTTPError) -> String {
        guard !text.contains(where: { "@/?#".contains($0) }) else { throw error("its host is none; \(howTo)") }
        return try authority("//\(text)", isSecure: false).host
    }

    private static func split(_ text: String) throws(HTTPError) -> (ProxyServer.Scheme, Substring) {
        guard let mark = text.firstRange(of: "://") else { return (.http, text[...]) }
        let name = text[..<mark.lowerBound].lowercased()
        guard let scheme = ProxyServer.Scheme(rawValue: name) else {
            // What stands there may be a password with a slash in it.
            let isName = name.utf8.allSatisfy { URLBytes.isSchemeByte($0) }
            throw error("\(isName ? "'\(name)'" : "its scheme") is not among those that are spoken; \(howTo)")
        }
        return (scheme, text[mark.upperBound...])
    }

    private static func authority(_ reference: String, isSecure: Bool) throws(HTTPError) -> URLAuthority {
        do throws(HTTPError) {
            return try URLAuthority(URLReference(reference), isSecure: isSecure)
        } catch {
            // The words are those for URLs, and show nothing of the user.
            let words = error.reason.replacing("the URL's", with: "its").replacing("the URL", with: "it")
            throw self.error("\(words); \(howTo)")
        }
    }
}
