import X509

/// A test's certificate authority: a root, and an intermediate that issues the servers' certificates.
package struct CertificateAuthority: Sendable {
    /// The root, which clients trust and servers do not send.
    package let root: MintedCertificate
    /// The intermediate, which servers send with their certificate.
    package let intermediate: MintedCertificate

    /// Creates an authority; its name identifies it in errors.
    package init(_ name: String = "Lab") throws {
        root = try MintedCertificate(.init("\(name) Root") { $0.isAuthority = true })
        intermediate = try MintedCertificate(.init("\(name) Intermediate") { $0.isAuthority = true }, by: root)
    }

    /// The root in PEM, as in a client's file of roots.
    package var rootPEM: String { root.pem }

    /// Issues a server certificate for host names and addresses.
    package func issue(
        _ names: [String] = ["localhost"],
        addresses: [String] = ["127.0.0.1", "::1"],
        validity: CertificateRequest.Validity = .now
    ) throws -> MintedIdentity {
        var request = CertificateRequest(names.first ?? "server", names: names, addresses: addresses)
        request.validity = validity
        return try issue(request)
    }

    /// Issues a client certificate.
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

    /// Issues a certificate for any request.
    package func issue(_ request: CertificateRequest) throws -> MintedIdentity {
        MintedIdentity(own: try MintedCertificate(request, by: intermediate), above: [intermediate])
    }
}

/// The identity of a server or a client: a certificate with its key, and the certificates that are sent with it.
package struct MintedIdentity: Sendable {
    /// The certificate.
    package var own: MintedCertificate
    /// The certificates that are sent with it, its issuer first.
    package var above: [MintedCertificate]

    /// Creates an identity; a test may combine certificates that do not fit.
    package init(own: MintedCertificate, above: [MintedCertificate] = []) {
        self.own = own
        self.above = above
    }

    /// The chain in PEM, the own certificate first, as for nginx's `ssl_certificate`.
    package var chainPEM: String { own.pem + above.map(\.pem).joined() }

    /// Writes the chain and the key as PEM files into a folder.
    package func write(to folder: LabFolder, as name: String = "server") throws -> (chain: String, key: String) {
        (try folder.write("\(name).pem", chainPEM), try folder.write("\(name).key", own.keyPEM))
    }
}
