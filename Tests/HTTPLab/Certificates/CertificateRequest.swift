public import X509

/// What a minted certificate says.
public struct CertificateRequest: Sendable {
    /// When it is valid.
    public enum Validity: Sendable, CaseIterable {
        /// From yesterday until in a year.
        case now
        /// Until yesterday.
        case expired
        /// From tomorrow.
        case notYet
    }

    /// The common name of its subject.
    public var subject: String
    /// The hosts' names that it is for; wildcards are written as they are.
    public var names: [String]
    /// The addresses that it is for, numeric.
    public var addresses: [String]
    /// When it is valid.
    public var validity = Validity.now
    /// Whether it may issue others.
    public var isAuthority = false
    /// How many authorities may stand between it and a server's; nil for any number.
    public var pathLength: Int?
    /// The names below which it may issue; none to leave that open.
    public var permittedNames: [String] = []
    /// The names below which it may not issue.
    public var excludedNames: [String] = []
    /// What it is for; none to leave that out.
    public var usages: [ExtendedKeyUsage.Usage] = [.serverAuth]
    /// Whether its usages are marked as critical.
    public var areUsagesCritical = false
    /// Whether it is of version 1, which has no extensions.
    public var isVersion1 = false
    /// Its key, where that was there before.
    public var key: Certificate.PrivateKey?

    /// Asks for a server's certificate.
    public init(_ subject: String, names: [String] = [], addresses: [String] = []) {
        self.subject = subject
        self.names = names
        self.addresses = addresses
    }

    /// Asks for one, and changes what is special about it.
    public init(_ subject: String, names: [String] = [], change: (inout Self) -> Void) {
        self.init(subject, names: names)
        change(&self)
    }
}
