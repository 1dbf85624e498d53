import X509

/// An authority of a test's own: a root, and an intermediate that issues the servers' certificates.
package struct CertificateAuthority: Sendable {
    /// What clients trust; servers don't send it.
    package let root: MintedCertificate
    /// What servers send along.
    package let intermediate: MintedCertificate

    /// Founds one; its name tells it from others in errors.
    package init(_ name: String = "Lab") throws {
        root = try MintedCertificate(.init("\(name) Root") { $0.isAuthority = true })
        intermediate = try MintedCertificate(.init("\(name) Intermediate") { $0.isAuthority = true }, by: root)
    }

    /// The root as a file for clients holds it, PEM.
    package var rootPEM: String { root.pem }

    /// Issues a server's certificate for hosts' names and addresses.
    package func issue(
        _ names: [String] = ["localhost"],
        addresses: [String] = ["127.0.0.1", "::1"],
        validity: CertificateRequest.Validity = .now
    ) throws -> MintedIdentity {
        var request = CertificateRequest(names.first ?? "server", names: names, addresses: addresses)
        request.validity = validity
        return try issue(request)
    }

    /// Issues a client's certificate.
    package func issueClient(
        _ name: String = "client",
        validity: CertificateRequest.Validity = .now
    ) throws -> MintedIdentity {
        try issue(
            .init(name) {
                $0.usages = [.clientAuth]
                $0.validity = validity
            }
        )
    }

    /// Issues whatever certificate is asked for.
    package func issue(_ request: CertificateRequest) throws -> MintedIdentity {
        MintedIdentity(own: try MintedCertificate(request, by: intermediate), above: [intermediate])
    }
}

/// Who a server or a client can show to be: a certificate with its key, and what is sent along.
package struct MintedIdentity: Sendable {
    /// Its own certificate.
    package var own: MintedCertificate
    /// What is sent along, its issuer first.
    package var above: [MintedCertificate]

    /// Puts one together, as wrongly as a test needs it.
    package init(own: MintedCertificate, above: [MintedCertificate] = []) {
        self.own = own
        self.above = above
    }

    /// The chain in PEM, its own certificate first, as nginx's `ssl_certificate` wants it.
    package var chainPEM: String { own.pem + above.map(\.pem).joined() }

    /// The chain and the key as PEM files in a folder.
    package func write(to folder: LabFolder, as name: String = "server") throws -> (chain: String, key: String) {
        (try folder.write("\(name).pem", chainPEM), try folder.write("\(name).key", own.keyPEM))
    }
}
