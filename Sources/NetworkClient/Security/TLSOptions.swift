/// How a session speaks TLS, whom it trusts, and who it says it is.
public struct TLSOptions: Sendable {
    /// A version of TLS.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        /// TLS 1.2, RFC 5246.
        case tls12 = "TLS 1.2"
        /// TLS 1.3, RFC 8446.
        case tls13 = "TLS 1.3"
    }

    /// What servers have to show.
    public var policy: SecurityPolicy
    /// What the servers of some hosts have to show instead.
    ///
    /// A key is a host name in its ASCII form, an address, or `*.` and a name, which stands for names with exactly one
    /// label more. A host's own name goes before a wildcard, and both before ``policy``.
    public var policiesByHost: [String: SecurityPolicy]
    /// What is shown to servers that ask for a client certificate, once they have themselves been accepted.
    public var clientIdentity: ClientIdentity?
    /// The roots that chains have to lead to.
    public var roots: TrustRoots
    /// The oldest version that is spoken.
    public var minimumVersion: Version
    /// What has the last word on a server, if there is one.
    public var challengeHandler: ChallengeHandler?

    /// Makes options; by default the system's roots decide, and TLS 1.2 and 1.3 are spoken.
    public init(
        policy: SecurityPolicy = .standard,
        policiesByHost: [String: SecurityPolicy] = [:],
        clientIdentity: ClientIdentity? = nil,
        roots: TrustRoots = .system,
        minimumVersion: Version = .tls12,
        challengeHandler: ChallengeHandler? = nil
    ) {
        self.policy = policy
        self.policiesByHost = policiesByHost
        self.clientIdentity = clientIdentity
        self.roots = roots
        self.minimumVersion = minimumVersion
        self.challengeHandler = challengeHandler
    }
}
