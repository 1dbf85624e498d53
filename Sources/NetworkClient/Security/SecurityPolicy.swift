import SwiftASN1
import X509

/// What a server has to show before a session speaks to it.
///
/// A verdict is found in this order:
/// 1. Invalid certificates allowed, the host name to be validated and nothing pinned: such a policy can't be meant, and
///    no session is made with it (``HTTPError/Code/invalidConfiguration``).
/// 2. The chain is validated: it has to lead to a trusted root, to be in date, and, if ``validatesDomainName``, to name
///    the host.
/// 3. ``Mode-swift.enum/none``: the server is accepted if its chain is valid, or if invalid ones are allowed.
/// 4. A chain that is not valid is refused, unless invalid ones are allowed.
/// 5. ``Mode-swift.enum/certificate``: the chain is validated once more with the pins as the only roots, and its dates
/// and
///    the host's name count even where invalid certificates are allowed.
/// 6. ``Mode-swift.enum/publicKey``: a certificate of the validated chain has a pinned key. Where invalid certificates
/// are
///    allowed and the chain is not valid, the chain that counts is the one that the signatures link to the server's
///    own certificate: a certificate that was merely sent along never counts, neither dates nor names do.
public struct SecurityPolicy: Sendable, Hashable {
    /// What is compared with the pins.
    public enum Mode: String, Sendable, Hashable, CaseIterable {
        /// Nothing: the trusted roots decide.
        case none
        /// Whole certificates, byte for byte; those pinned are the only roots.
        case certificate
        /// Public keys, which survive the renewal of a certificate with the same key.
        case publicKey
    }

    /// What is compared with the pins.
    public var mode: Mode
    /// The certificates and keys of which the chain has to have one; not looked at in mode none.
    public var pins: [Pin]
    /// Whether a chain is accepted that is not valid: out of date, another host's, or without a trusted root.
    public var allowsInvalidCertificates: Bool
    /// Whether the certificate has to name the host.
    public var validatesDomainName: Bool

    /// Makes a policy; by default the trusted roots decide, and the certificate has to name the host.
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

    /// The trusted roots decide, and the certificate has to name the host.
    public static let standard = Self()

    /// Any server is accepted: for tests only, since anybody on the way can then read and change everything.
    public static let insecure = Self(allowsInvalidCertificates: true, validatesDomainName: false)
}

extension SecurityPolicy {
    /// Throws if the policy contradicts itself, or could never accept a server.
    func check(of source: String) throws(HTTPError) {
        guard let problem else { return }
        throw HTTPError(.invalidConfiguration, .neverSent, "\(source) \(problem)")
    }

    /// Throws if the policy pins, and the base URL's scheme is one that shows no certificates.
    ///
    /// `scheme` is nil where the session has no base URL.
    func check(baseScheme scheme: String?) throws(HTTPError) {
        guard mode != .none, let scheme, scheme.lowercased() != "https" else { return }
        throw HTTPError(
            .invalidConfiguration,
            .neverSent,
            "the security policy pins, but the base URL is \(scheme), which shows no certificates: make it https"
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

/// Which policy counts for which host.
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

    /// The host's own policy, that of a wildcard in place of its first label, or the one for all.
    func policy(for name: ServerName) -> PreparedPolicy {
        if let own = byHost[name.text] { return own }
        guard let dot = name.hostName?.firstIndex(of: "."), let rest = name.hostName?[dot...] else { return standard }
        return byHost["*" + rest] ?? standard
    }

    /// How a pattern is looked up; throws if it can match nothing, or not what it seems to.
    private static func key(for pattern: String) throws(HTTPError) -> String {
        let isWildcard = pattern.hasPrefix("*.")
        let name = ServerName(isWildcard ? String(pattern.dropFirst(2)) : pattern)
        let isName = !name.text.isEmpty && name.text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2A }
        guard isName, !isWildcard || name.address == nil else {
            throw HTTPError(
                .invalidConfiguration,
                .neverSent,
                "\"\(pattern)\" names no host for a security policy: "
                    + "give a name in ASCII (xn--...), an address, or *. and a name"
            )
        }
        return isWildcard ? "*." + name.text : name.text
    }
}

/// A server that has shown its certificates and waits for the verdict, within the handshake.
public struct ServerChallenge: Sendable {
    /// What a handler says of a server.
    public enum Verdict: Sendable {
        /// The server is accepted, whatever the policy says.
        case accept
        /// The server is refused for this reason, whatever the policy says; the request fails with
        /// ``HTTPError/Code/challengeRefused``, and this error is its cause.
        case refuse(any Error)
        /// The policy decides.
        case usePolicy
    }

    /// The host that was asked for: a name in its ASCII form, or an address.
    public var host: String
    /// The certificates as the server presented them, its own first, in DER.
    ///
    /// Nothing is proven of them but that the server holds the key of the first.
    public var presentedChain: [[UInt8]]
    /// Why the policy would refuse the server; nil where it would accept it.
    public var policyRefusal: HTTPError?
}

/// Has the last word on a server; called once per handshake, on no particular executor.
///
/// No byte of a request and no client certificate leaves before it has answered. The handshake's time runs on
/// meanwhile: when it is up, or the request is cancelled, the handler's task is cancelled, and nobody waits for its
/// answer.
public typealias ChallengeHandler = @Sendable (ServerChallenge) async -> ServerChallenge.Verdict

/// A policy whose pins are read, so that no handshake has to read them again.
struct PreparedPolicy: Sendable {
    let policy: SecurityPolicy
    /// The pinned certificates.
    let certificates: [Certificate]
    /// The hashes of all pinned keys, those of the pinned certificates among them.
    let keyHashes: Set<[UInt8]>

    init(_ policy: SecurityPolicy, of source: String) throws(HTTPError) {
        try policy.check(of: source)
        self.policy = policy
        certificates = policy.pins.compactMap { pin in pin.certificate.flatMap { try? Certificate(derEncoded: $0) } }
        keyHashes = Set(policy.pins.map(\.keyHash))
    }
}
