/// A URL as a request needs it: parsed once.
///
/// Absolute, `http` or `https`, by RFC 3986; what a person types (spaces, other scripts) is encoded as browsers do. The
/// fragment is kept apart, since it never goes to a server; so is user information, so that no log shows it.
struct HTTPURL: Sendable, Hashable {
    /// Whether the scheme is `https`.
    let isSecure: Bool
    /// The host: a name in its ASCII form (IDNA) and lower case, or a numeric address without brackets.
    ///
    /// A name keeps its trailing dot, which tells the resolver that it is complete; an IPv6 address keeps its zone
    /// (`fe80::1%eth0`), which tells the kernel the interface.
    let host: String
    /// The port: what is written, else the scheme's own.
    let port: Int
    /// For the `Host` header: the port left out if it is the scheme's own, IPv6 in brackets and without its zone, which
    /// means something on this machine alone (RFC 6874, 4).
    let authority: String
    /// Path and query as on the request line: never empty, begins with a slash, percent-encoded, no fragment.
    let target: String
    /// The decoded user name, if the text had one.
    let user: String?
    /// The decoded password, if the text had one.
    let password: String?
    /// What follows `#`, which never goes to a server; nil if there is none.
    let fragment: String?
    /// How many bytes of ``target`` are its path up to and with the last slash: what relative references follow.
    let directoryLength: Int

    /// Whether the text had user information.
    var hasCredentials: Bool { user != nil }

    /// The scheme's name.
    var scheme: String { isSecure ? "https" : "http" }

    /// Parses an absolute URL.
    ///
    /// - Throws: `invalidURL`; the reason says what is wrong, at which byte, and what to write instead.
    init(_ text: String) throws(HTTPError) {
        let reference = try URLReference(text)
        let isSecure = try reference.scheme()
        guard let isSecure else {
            throw .invalidURL("the URL has no scheme: let it begin with http:// or https://")
        }
        try self.init(reference, isSecure: isSecure)
    }

    /// Makes a URL of a reference that names a host.
    init(_ reference: URLReference, isSecure: Bool) throws(HTTPError) {
        let authority = try URLAuthority(reference, isSecure: isSecure)
        let target = try URLTarget(path: reference.bytes[reference.path], query: reference.queryBytes)
        self.isSecure = isSecure
        host = authority.host
        port = authority.port
        self.authority = authority.header
        user = authority.user
        password = authority.password
        self.target = target.text
        fragment = reference.fragment
        directoryLength = target.directoryLength
    }

    /// Makes a URL of another's host and a target of its own.
    init(_ base: Self, target: String, directoryLength: Int, fragment: String? = nil) {
        isSecure = base.isSecure
        host = base.host
        port = base.port
        authority = base.authority
        user = base.user
        password = base.password
        self.target = target
        self.fragment = fragment
        self.directoryLength = directoryLength
    }

    /// Makes a URL of another, with user information and fragment of its own.
    init(_ other: Self, credentialsOf owner: Self?, fragment: String?) {
        isSecure = other.isSecure
        host = other.host
        port = other.port
        authority = other.authority
        target = other.target
        directoryLength = other.directoryLength
        user = owner?.user
        password = owner?.password
        self.fragment = fragment
    }
}

extension HTTPURL: CustomReflectable {
    /// Has no children: among them are user information and query.
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPURL: CustomStringConvertible {
    /// The URL for logs: without user information and without the query, which may hold what is secret too.
    var description: String { "\(scheme)://\(authority)\(path)" }

    /// The path: the target without its query.
    var path: Substring { target.prefix { $0 != "?" } }
}

extension HTTPError {
    /// An error for a text that is no URL.
    static func invalidURL(_ reason: String) -> Self { .init(.invalidURL, .neverSent, reason) }
}
