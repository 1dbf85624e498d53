import SwiftASN1
import X509

/// The requirements on a server's certificates.
///
/// A server is evaluated in this order:
/// 1. A policy that allows invalid certificates, validates the host name and pins nothing is contradictory: no session
///    can be made with it (``HTTPError/Code/invalidConfiguration``).
/// 2. The chain is validated: it must lead to a trusted root, its dates must be valid, and, if ``validatesDomainName``
///    is set, it must name the host.
/// 3. ``Mode-swift.enum/none``: the server is accepted if its chain is valid, or if invalid ones are allowed.
/// 4. An invalid chain is refused, unless invalid ones are allowed.
/// 5. ``Mode-swift.enum/certificate``: the chain is validated again with the pins as the only roots; its dates and the
///    host name must be valid even if invalid certificates are allowed.
/// 6. ``Mode-swift.enum/publicKey``: a certificate of the validated chain must have a pinned key. If invalid
///    certificates are allowed and the chain is not valid, only certificates count that are linked to the server's own
///    by signatures: one that was merely sent along never counts. Dates and names are not checked then.
public struct SecurityPolicy: Sendable, Hashable {
    /// The property that is compared with the pins.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Nothing is pinned: the trusted roots decide.
        case none
        /// Whole certificates, byte for byte; the pinned ones are the only roots.
        case certificate
        /// Public keys, which stay the same when a certificate is renewed with the same key.
        case publicKey
    }

    /// The property that is compared with the pins.
    public var mode: Mode
    /// The certificates and keys of which the chain must contain one; ignored in mode none.
    public var pins: [Pin]
    /// Whether to accept an invalid chain: expired, for another host, or without a trusted root.
    public var allowsInvalidCertificates: Bool
    /// Whether the certificate must name the host.
    public var validatesDomainName: Bool

    /// Makes a policy; by default the trusted roots decide, and the certificate must name the host.
    public init(
        mode: Mode = .none,
        pins: [Pin] = [],
        allowsInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true
    ) {
        self.mode = mode
        self.pins = pins
        self.allowsInvalidCertificates = allowsInvalidCertificates
        self.validatesDomainName = validatesDomainName
    }

    /// The default policy: the trusted roots decide, and the certificate must name the host.
    public static let standard = Self()

    /// Any server is accepted: for tests only, since anyone on the network path can then read and change everything.
    public static let insecure = Self(allowsInvalidCertificates: true, validatesDomainName: false)
}

extension SecurityPolicy {
    /// Throws an error if the policy contradicts itself, or could never accept a server.
    func check(of source: String) throws(HTTPError) {
        guard let problem else { return }
        throw HTTPError(.invalidConfiguration, processing: .neverSent, reason: "\(source) \(problem)")
    }

    /// Throws an error if the policy has pins, but the scheme of a URL uses no certificates.
    ///
    /// `scheme` is nil if the session has no base URL.
    func check(scheme: String?, of url: String) throws(HTTPError) {
        guard mode != .none, let scheme, scheme.lowercased() != "https" else { return }
        throw HTTPError(
            .invalidConfiguration,
            processing: .neverSent,
            reason:
                "the security policy pins, but \(url) is \(scheme), which shows no certificates: make it https"
        )
    }

    private var problem: String? {
        if allowsInvalidCertificates, validatesDomainName, mode == .none || pins.isEmpty {
            return "allows invalid certificates and validates the domain name, which nothing proves without pins: "
                + "pin something, or choose one of the two"
        }
        if mode != .none, pins.isEmpty {
            return "has mode \(mode) and no pins, so that no server could be accepted: add pins, or use mode none"
        }
        if mode == .certificate, pins.contains(where: { $0.certificate == nil }) {
            return "has mode certificate, but a pin that is only the hash of a key: "
                + "pin the certificate itself, or use mode publicKey"
        }
        return nil
    }
}

/// The security policies of a session, by host.
struct HostPolicies: Sendable {
    private let standard: PreparedPolicy
    private let byHost: [String: PreparedPolicy]

    init(_ options: TLSOptions) throws(HTTPError) {
        standard = try PreparedPolicy(options.policy, of: "the security policy")
        var byHost: [String: PreparedPolicy] = [:]
        for (pattern, policy) in options.policiesByHost {
            let key = try Self.key(for: pattern)
            byHost[key] = try PreparedPolicy(policy, of: "the security policy for \(pattern)")
        }
        self.byHost = byHost
    }

    /// Returns the policy of the host, otherwise of a wildcard for its parent domain, otherwise the default.
    func policy(for name: ServerName) -> PreparedPolicy {
        if let own = byHost[name.text] { return own }
        guard let dot = name.hostName?.firstIndex(of: "."), let rest = name.hostName?[dot...] else { return standard }
        return byHost["*" + rest] ?? standard
    }

    /// Returns the key for a pattern; throws an error if the pattern is misleading, or can't match any host.
    private static func key(for pattern: String) throws(HTTPError) -> String {
        let isWildcard = pattern.hasPrefix("*.")
        let name = ServerName(isWildcard ? String(pattern.dropFirst(2)) : pattern)
        let isName = !name.text.isEmpty && name.text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2A }
        guard isName, !isWildcard || name.address == nil else {
            throw HTTPError(
                .invalidConfiguration,
                processing: .neverSent,
                reason: "\"\(pattern)\" names no host for a security policy: "
                    + "give a name in ASCII (xn--...), an address, or *. and a name"
            )
        }
        return isWildcard ? "*." + name.text : name.text
    }
}

/// A server that has presented its certificates during the handshake, and is being evaluated.
public struct ServerChallenge: Sendable {
    /// The decision of a challenge handler.
    public enum Verdict: Sendable {
        /// The server is accepted, regardless of the policy.
        case accept
        /// The server is refused, regardless of the policy; the request fails with ``HTTPError/Code/challengeRefused``,
        /// and this error is its cause.
        case refuse(any Error)
        /// The policy decides.
        case usePolicy
    }

    /// The requested host: a name in its ASCII form, or an address.
    public var host: String
    /// The number of the request for which the connection is opened; see ``RequestHandle/id``.
    ///
    /// Later requests that use the connection are not evaluated again.
    public var requestID: UInt64
    /// The method and the URL of that request, without user information and query.
    public var request: String
    /// The certificates as the server presented them, its own first, in DER.
    ///
    /// They are unverified, except that the server has the private key of the first one.
    public var presentedChain: [[UInt8]]
    /// The error with which the policy would refuse the server; nil if it would accept it.
    public var policyRefusal: HTTPError?
}

/// Makes the final decision on a server; called once per handshake, on no particular executor.
///
/// No byte of a request and no client certificate is sent before it returns. The timeout of the handshake keeps
/// running: when it expires, or the request is cancelled, the handler's task is cancelled, and its result is ignored.
public typealias ChallengeHandler = @Sendable (ServerChallenge) async -> ServerChallenge.Verdict

/// A policy with parsed pins, so that they are not parsed in each handshake.
struct PreparedPolicy: Sendable {
    let policy: SecurityPolicy
    /// The pinned certificates.
    let certificates: [Certificate]
    /// The hashes of all pinned keys, including those of the pinned certificates.
    let keyHashes: Set<[UInt8]>

    init(_ policy: SecurityPolicy, of source: String) throws(HTTPError) {
        try policy.check(of: source)
        self.policy = policy
        certificates = policy.pins.compactMap { pin in pin.certificate.flatMap { try? Certificate(derEncoded: $0) } }
        keyHashes = Set(policy.pins.map(\.keyHash))
    }
}
