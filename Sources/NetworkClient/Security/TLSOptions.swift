import NIOSSL

/// The TLS options of a session: trust, client identity and protocol version.
public struct TLSOptions: Sendable {
    /// A version of TLS.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        /// TLS 1.2, RFC 5246.
        case tls12 = "TLS 1.2"
        /// TLS 1.3, RFC 8446.
        case tls13 = "TLS 1.3"
    }

    /// The requirements on servers.
    public var policy: SecurityPolicy
    /// The requirements on the servers of particular hosts, in place of ``policy``.
    ///
    /// A key is a host name in its ASCII form, an address, or `*.` and a name, which matches names with exactly one
    /// additional label. An exact match takes precedence over a wildcard, and both over ``policy``.
    public var policiesByHost: [String: SecurityPolicy]
    /// The identity for servers that request a client certificate, presented after the server was accepted.
    public var clientIdentity: ClientIdentity?
    /// The root certificates that chains must lead to.
    public var roots: TrustRoots
    /// The minimum TLS version.
    public var minimumVersion: Version
    /// The handler that makes the final decision on a server, if there is one.
    public var challengeHandler: ChallengeHandler?

    /// Makes options; by default the system's roots decide, and TLS 1.2 and 1.3 are allowed.
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

    /// Whether only certificates are accepted that prove the server.
    package var provesServers: Bool {
        challengeHandler == nil
            && ([policy] + policiesByHost.values).allSatisfy { !$0.allowsInvalidCertificates && $0.validatesDomainName }
    }
}

/// The certificate and key that a session presents to servers that request a client certificate.
public struct ClientIdentity: Sendable, Hashable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// Makes an identity from a chain and the key of its first certificate, each in PEM or DER.
    ///
    /// The chain begins with the client's own certificate, followed by the intermediates.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if one of them can't be read, or they don't match.
    public init(certificates: [UInt8], key: [UInt8]) throws(HTTPError) {
        try self.init(certificates: certificates, key: key, names: ("the client certificate", "the client key"))
    }

    /// Makes an identity from the chain and the key in two files in PEM or DER; both may be in the same PEM file.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration``, as ``init(certificates:key:)`` does.
    public init(certificateFile: String, keyFile: String) throws(HTTPError) {
        try self.init(
            certificates: FileBytes.read(certificateFile),
            key: FileBytes.read(keyFile),
            names: (certificateFile, keyFile)
        )
    }

    private init(
        certificates: [UInt8],
        key keyBytes: [UInt8],
        names: (chain: String, key: String)
    ) throws(HTTPError) {
        let encoded = try CertificateFile.certificates(in: certificates, of: names.chain)
        do {
            chain = try encoded.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        } catch {
            throw .badCertificate("a certificate of \(names.chain) can't be read", cause: error)
        }
        do {
            key = try NIOSSLPrivateKey(bytes: keyBytes, format: keyBytes.first == 0x30 ? .der : .pem)
        } catch {
            throw .badCertificate("\(names.key) holds no private key without passphrase, in PEM or DER", cause: error)
        }
        try checkPair(names)
    }

    /// Throws an error unless the key belongs to the certificate, which only a context can check.
    private func checkPair(_ names: (chain: String, key: String)) throws(HTTPError) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        apply(to: &configuration)
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .badCertificate("\(names.key) is not the key of \(names.chain)", cause: error)
        }
    }

    /// Sets this identity in a client's configuration.
    func apply(to configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
    }
}
