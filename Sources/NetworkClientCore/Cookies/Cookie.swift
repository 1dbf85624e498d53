/// A cookie that a server has set (RFC 6265bis, 5.7).
///
/// No description reveals its value.
public struct Cookie: Sendable, Hashable {
    /// The requests to other sites with which a cookie is sent (RFC 6265bis, 5.6.7).
    public enum SameSite: Sendable, Hashable {
        /// The server has not set the attribute; such cookies are handled like `lax`.
        case unspecified
        /// All requests.
        case none
        /// Requests with a safe method.
        case lax
        /// No requests.
        case strict
    }

    /// The name; empty for a cookie without one.
    public var name: String
    /// The value.
    public var value: String
    /// The domain: a host's name or address, in lower case and without a dot at its beginning.
    public var domain: String
    /// Whether the cookie belongs to the host ``domain`` only; otherwise to its subdomains too.
    public var isHostOnly: Bool
    /// The path of the URLs to which it is sent, which includes all paths below it.
    public var path: String
    /// The time at which it expires, in seconds since 1970-01-01 00:00:00 UTC; nil for a session cookie.
    public var expires: Int64?
    /// Whether it is sent by https and wss only.
    public var isSecure: Bool
    /// Whether the server has hidden it from scripts, which matters in browsers only.
    public var isHTTPOnly: Bool
    /// The requests to other sites with which it is sent.
    public var sameSite: SameSite

    /// Creates a cookie; the properties describe the parameters.
    public init(
        name: String,
        value: String,
        domain: String,
        isHostOnly: Bool = true,
        path: String = "/",
        expires: Int64? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        sameSite: SameSite = .unspecified
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, domain and path, without the value.
    public var description: String { "Cookie(\(name)=(hidden); Domain=\(domain); Path=\(path))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Cookie {
    /// Returns whether the cookie has expired.
    func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

    /// Returns whether a cookie has the same name, domain and path, so that it replaces this one.
    func isReplaced(by other: Self) -> Bool {
        name == other.name && path == other.path && domain == other.domain && isHostOnly == other.isHostOnly
    }

    /// Whether the cookie meets the requirements of its name's prefix (RFC 6265bis, 4.1.3).
    ///
    /// A cookie without a name whose value begins with a prefix would look to a server like one that meets them.
    var meetsPrefix: Bool {
        if name.isEmpty { return !value.hasCookiePrefix("__host-") && !value.hasCookiePrefix("__secure-") }
        if name.hasCookiePrefix("__secure-") { return isSecure }
        return !name.hasCookiePrefix("__host-") || isSecure && isHostOnly && path == "/"
    }
}

extension String {
    /// Returns whether the text begins with a prefix in lower case, ignoring the case of ASCII letters.
    func hasCookiePrefix(_ prefix: String) -> Bool {
        var bytes = utf8.makeIterator()
        return prefix.utf8.allSatisfy { expected in
            guard let byte = bytes.next() else { return false }
            return byte == expected || byte.isASCIIUppercase && byte | 0x20 == expected
        }
    }
}
