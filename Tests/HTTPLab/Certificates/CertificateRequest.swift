package import X509

/// The contents of a generated certificate.
package struct CertificateRequest: Sendable {
    /// The validity.
    package enum Validity: Sendable, CaseIterable {
        /// From yesterday, for a year.
        case now
        /// Until yesterday.
        case expired
        /// From tomorrow.
        case notYet
    }

    /// The common name of the subject.
    package var subject: String
    /// The host names, which may contain wildcards.
    package var names: [String]
    /// The numeric addresses.
    package var addresses: [String]
    /// The validity.
    package var validity = Validity.now
    /// Whether it is the certificate of an authority.
    package var isAuthority = false
    /// The maximum number of authorities between it and a server's certificate; nil for no limit.
    package var pathLength: Int?
    /// The permitted subtrees of names; empty for no constraint.
    package var permittedNames: [String] = []
    /// The excluded subtrees of names.
    package var excludedNames: [String] = []
    /// The extended key usages; empty to omit the extension.
    package var usages: [ExtendedKeyUsage.Usage] = [.serverAuth]
    /// Whether the extended key usages are marked as critical.
    package var areUsagesCritical = false
    /// Whether it is of version 1, which has no extensions.
    package var isVersion1 = false
    /// The key; nil to generate one.
    package var key: Certificate.PrivateKey?

    /// Creates a request for a server certificate.
    package init(_ subject: String, names: [String] = [], addresses: [String] = []) {
        self.subject = subject
        self.names = names
        self.addresses = addresses
    }

    /// Creates a request, and changes it by a closure.
    package init(_ subject: String, names: [String] = [], change: (inout Self) -> Void) {
        self.init(subject, names: names)
        change(&self)
    }
}
