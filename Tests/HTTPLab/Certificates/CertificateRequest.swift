package import X509

/// What a minted certificate says.
package struct CertificateRequest: Sendable {
    /// When it is valid.
    package enum Validity: Sendable, CaseIterable {
        /// From yesterday until in a year.
        case now
        /// Until yesterday.
        case expired
        /// From tomorrow.
        case notYet
    }

    /// The common name of its subject.
    package var subject: String
    /// The hosts' names that it is for; wildcards are written as they are.
    package var names: [String]
    /// The addresses that it is for, numeric.
    package var addresses: [String]
    /// When it is valid.
    package var validity = Validity.now
    /// Whether it may issue others.
    package var isAuthority = false
    /// How many authorities may stand between it and a server's; nil for any number.
    package var pathLength: Int?
    /// The names below which it may issue; none to leave that open.
    package var permittedNames: [String] = []
    /// The names below which it may not issue.
    package var excludedNames: [String] = []
    /// What it is for; none to leave that out.
    package var usages: [ExtendedKeyUsage.Usage] = [.serverAuth]
    /// Whether its usages are marked as critical.
    package var areUsagesCritical = false
    /// Whether it is of version 1, which has no extensions.
    package var isVersion1 = false
    /// Its key, where that was there before.
    package var key: Certificate.PrivateKey?

    /// Asks for a server's certificate.
    package init(_ subject: String, names: [String] = [], addresses: [String] = []) {
        self.subject = subject
        self.names = names
        self.addresses = addresses
    }

    /// Asks for one, and changes what is special about it.
    package init(_ subject: String, names: [String] = [], change: (inout Self) -> Void) {
        self.init(subject, names: names)
        change(&self)
    }
}
