public import NetworkClient

/// The settings of a session for the scheme Negotiate: single sign-on with the user's Kerberos ticket (RFC 4559).
///
/// ```swift
/// var configuration = HTTPConfiguration()
/// configuration.authentication.negotiate = .init(for: ["https://intranet.example.com"])
/// ```
/// The ticket is that of the user's credential cache, which kinit(1) or the login has filled. MIT Kerberos obtains a
/// ticket for the service `HTTP` on the host of the URL, and krb5.conf(5) names the realms and their servers.
public struct NegotiatePolicy: Sendable, Hashable {
    /// The origins, as URLs such as `https://intranet.example.com`, that may authenticate the user; their paths are
    /// ignored.
    ///
    /// Challenges of other origins are not responded to. An invalid URL makes the session's initializer throw
    /// `invalidConfiguration`.
    public var origins: [String]
    /// Whether the proxies of the session may authenticate the user too; true by default.
    ///
    /// A proxy with a user name and a password gets these instead.
    public var includesProxies: Bool
    /// The credential cache, such as `FILE:/run/user/1000/krb5cc`; nil, the default, for that of the process
    /// (`KRB5CCNAME`, otherwise `default_ccache_name` in krb5.conf).
    public var credentialCache: String?
    /// Whether the server receives the user's ticket, with which it can act in the user's place; false by default.
    ///
    /// It needs a forwardable ticket (`kinit -f`). Use it only for servers that you would trust with your password.
    public var delegatesCredentials: Bool
    /// Whether the name of the host is looked up and made canonical before a ticket is requested for it, as krb5.conf
    /// says (`dns_canonicalize_hostname`, `rdns`); false by default.
    ///
    /// An attacker who controls the DNS could otherwise choose the server that is trusted.
    public var canonicalizesHostNames: Bool
    /// Whether a response of an origin fails with `authenticationFailed` if it does not prove the
    /// identity of the server; true by default.
    ///
    /// Error responses (4xx and 5xx) need no proof. A wrong proof always fails.
    public var requiresMutualAuthentication: Bool

    /// Creates settings; the properties describe the parameters.
    public init(
        for origins: [String],
        includesProxies: Bool = true,
        credentialCache: String? = nil,
        delegatesCredentials: Bool = false,
        canonicalizesHostNames: Bool = false,
        requiresMutualAuthentication: Bool = true
    ) {
        self.origins = origins
        self.includesProxies = includesProxies
        self.credentialCache = credentialCache
        self.delegatesCredentials = delegatesCredentials
        self.canonicalizesHostNames = canonicalizesHostNames
        self.requiresMutualAuthentication = requiresMutualAuthentication
    }
}

extension AuthenticationPolicy {
    /// The settings for the scheme Negotiate; nil, the default, for none.
    ///
    /// Tokens and credentials that a request or its URL has take precedence. Otherwise Negotiate is preferred to Digest
    /// and Basic, which are used if no ticket can be obtained and the server offers them.
    public var negotiate: NegotiatePolicy? {
        get { mechanism as? NegotiatePolicy }
        set { mechanism = newValue }
    }
}

extension NegotiatePolicy: SecurityMechanism {
    package func makeContext(for host: String) -> any SecurityContext { GSSAPIContext(self, host: host) }
}
