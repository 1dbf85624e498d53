/// What a server has to show before a session speaks to it.
///
/// A verdict is found in this order:
/// 1. Invalid certificates allowed, the host name to be validated and nothing pinned: such a policy can't be meant, and
///    no session is made with it (``HTTPError/Code/invalidConfiguration``).
/// 2. The chain is validated: it has to lead to a trusted root, to be in date, and, if ``validatesDomainName``, to name
///    the host.
/// 3. ``Mode-swift.enum/none``: the server is accepted if its chain is valid, or if invalid ones are allowed.
/// 4. A chain that is not valid is refused, unless invalid ones are allowed.
/// 5. ``Mode-swift.enum/certificate``: the chain is validated once more with the pins as the only roots, and its dates and
///    the host's name count even where invalid certificates are allowed.
/// 6. ``Mode-swift.enum/publicKey``: a certificate of the validated chain has a pinned key. Where invalid certificates are
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

    /// Whoever answers is accepted: for tests only, since anybody on the way can then read and change everything.
    public static let insecure = Self(allowsInvalidCertificates: true, validatesDomainName: false)
}
