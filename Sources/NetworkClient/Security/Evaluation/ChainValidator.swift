import X509

/// Why no path from a server's certificate to an anchor does.
struct ChainFailure: Error {
    /// What is wrong.
    let error: HTTPError
    /// Whether there is a path at all, if not a valid one.
    let hasPath: Bool
}

/// Finds a path from a server's certificate to an anchor, and says what is wrong where there is none.
struct ChainValidator: Sendable {
    let chain: PresentedChain
    /// Who the certificate has to be for; nil where that does not matter.
    let name: ServerName?
    /// Who was asked for, for errors.
    let host: String

    /// The path, the server's own certificate first and an anchor last.
    ///
    /// With hashes of keys, only a path counts that has one of these keys.
    func validate(
        against anchors: Anchors,
        through keyHashes: Set<[UInt8]>? = nil
    ) async throws(ChainFailure) -> [Certificate] {
        let failure = TrustFailure(host: host, chain: chain)
        guard let leaf = chain.leaf else { throw ChainFailure(error: failure.unreadable, hasPath: false) }
        let result =
            anchors.named.contains(leaf)
            ? await validateAnchor(leaf, keyHashes)
            : await validatePath(from: leaf, to: anchors, keyHashes)
        switch result {
        case .validCertificate(let path): return Array(path)
        case .couldNotValidate(let failures):
            throw ChainFailure(error: failure.error(for: leaf, failures.first, name), hasPath: !failures.isEmpty)
        }
    }

    /// A chain that leads to an anchor somewhere else.
    private func validatePath(
        from leaf: Certificate,
        to anchors: Anchors,
        _ keyHashes: Set<[UInt8]>?
    ) async -> CertificateValidationResult {
        var verifier = Verifier(rootCertificates: anchors.store) {
            RFC5280Policy()
            ServerUsagePolicy()
            if let name { ServerNamePolicy(name) }
            if let keyHashes { PinnedKeyPolicy(keyHashes: keyHashes) }
        }
        return await verifier.validate(leaf: leaf, intermediates: CertificateStore(chain.others))
    }

    /// A chain of one, because the server's own certificate is trusted itself, authority or not.
    private func validateAnchor(_ leaf: Certificate, _ keyHashes: Set<[UInt8]>?) async -> CertificateValidationResult {
        var verifier = Verifier(rootCertificates: CertificateStore([leaf])) {
            DatePolicy()
            ServerUsagePolicy()
            if let name { ServerNamePolicy(name) }
            if let keyHashes { PinnedKeyPolicy(keyHashes: keyHashes) }
        }
        return await verifier.validate(leaf: leaf, intermediates: CertificateStore())
    }

    /// Whether signatures link the server's own certificate to one that has one of these keys, whatever the dates, the
    /// names and the roots of the certificates between them.
    ///
    /// A certificate that is merely sent along is not reached: the one below it has to be signed with its key.
    func isLinked(to candidates: [Certificate], orRootsOf anchors: Anchors, by keyHashes: Set<[UInt8]>) async -> Bool {
        guard let leaf = chain.leaf else { return false }
        if candidates.contains(leaf) { return true }
        var verifier = Verifier(rootCertificates: anchors.store.appending(contentsOf: candidates)) {
            IssuerPolicy()
            PinnedKeyPolicy(keyHashes: keyHashes)
        }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore(chain.others))
        if case .validCertificate = result { return true }
        return false
    }
}
