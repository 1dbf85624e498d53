import NIOSSL

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

/// Who a session says it is to servers that ask for a client certificate.
public struct ClientIdentity: Sendable, Hashable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// Takes a chain and the key of its first certificate, each in PEM or DER.
    ///
    /// The chain begins with the client's own certificate, and goes on with the intermediates. Throws
    /// ``HTTPError/Code/invalidConfiguration`` if one of them can't be read, or they don't belong together.
    public init(certificates: [UInt8], key: [UInt8]) throws(HTTPError) {
        try self.init(certificates: certificates, key: key, names: ("the client certificate", "the client key"))
    }

    /// Takes the chain and the key of two files in PEM or DER; both may be in the same file in PEM.
    ///
    /// Throws ``HTTPError/Code/invalidConfiguration`` as the initializer from bytes does.
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

    /// Throws unless the key is the certificate's, which only a context can tell.
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

    /// Has a client show this identity.
    func apply(to configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
    }
}
