import FoundationEssentials
import SwiftASN1
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

/// The certificates that a server presented, its own first, as far as they can be read.
struct PresentedChain: Sendable {
    /// How many certificates of a chain are looked at.
    ///
    /// Real chains have two to four. What a hostile server can make the search for a path cost grows faster than the
    /// number of certificates that it may send.
    static let limit = 16

    /// The server's own; nil if it can't be read.
    let leaf: Certificate?
    /// Those sent along, of which nothing is proven.
    let others: [Certificate]
    /// All of them in DER, also those that can't be read.
    let encoded: [[UInt8]]

    init(_ encoded: [[UInt8]]) {
        self.encoded = encoded
        leaf = encoded.first.flatMap { try? Certificate(derEncoded: $0) }
        others = encoded.dropFirst().prefix(Self.limit - 1).compactMap { try? Certificate(derEncoded: $0) }
    }
}

/// Checks that all certificates of a chain are in date.
struct DatePolicy: VerifierPolicy, Sendable {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.nameConstraints,
    ]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        let now = Date()
        let isInDate = chain.allSatisfy { $0.notValidBefore <= now && now <= $0.notValidAfter }
        return isInDate ? .meetsPolicy : .failsToMeetPolicy(reason: "a certificate is out of date")
    }
}

/// Checks no more than that each certificate of a chain was issued by an authority: the rest of it may be invalid.
struct IssuerPolicy: VerifierPolicy, Sendable {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.keyUsage,
        .X509ExtensionID.nameConstraints, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        guard let problem = Self.problem(in: chain) else { return .meetsPolicy }
        return .failsToMeetPolicy(reason: problem)
    }

    /// Which certificate can't have issued the one below it, and why; nil if all can.
    static func problem(in chain: UnverifiedCertificateChain) -> String? {
        for (index, issuer) in chain.enumerated().dropFirst() {
            let between = chain.prefix(index).dropFirst().count { !$0.isSelfIssued }
            let problem = problem(of: issuer, above: between, isAnchor: index == chain.count - 1)
            if let problem { return "\(issuer.subjectText) \(problem)" }
        }
        return nil
    }

    /// Why a certificate can't have issued one, with so many authorities between it and the server's.
    ///
    /// One of version 1 can't say that it is no authority, so that it is one only where it is trusted itself.
    private static func problem(of issuer: Certificate, above between: Int, isAnchor: Bool) -> String? {
        if issuer.version == .v1 { return isAnchor ? nil : "is of version 1, and so no authority" }
        guard case .isCertificateAuthority(let limit)? = try? issuer.extensions.basicConstraints else {
            return "is no authority, and can't issue certificates"
        }
        if let usage = try? issuer.extensions.keyUsage, !usage.keyCertSign { return "may not sign certificates" }
        if between > limit ?? between { return "allows fewer authorities below it than there are" }
        return nil
    }
}

/// Checks that a chain has one of some keys.
struct PinnedKeyPolicy: VerifierPolicy, Sendable {
    let keyHashes: Set<[UInt8]>
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = []

    init(keyHashes: Set<[UInt8]>) { self.keyHashes = keyHashes }

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        let isPinned = chain.contains { certificate in certificate.keyHash.map(keyHashes.contains) ?? false }
        return isPinned ? .meetsPolicy : .failsToMeetPolicy(reason: "no key of the chain is pinned")
    }
}

/// Checks what a chain's certificates may be used for, which RFC 5280's own policy leaves out.
struct ServerUsagePolicy: VerifierPolicy, Sendable {
    /// Names are in this list because they are checked apart, or on purpose not at all.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.keyUsage, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        if let problem = IssuerPolicy.problem(in: chain) { return .failsToMeetPolicy(reason: problem) }
        // An anchor is trusted for what it is, whatever it says of itself; unless it is the server's own.
        for certificate in chain.count > 1 ? chain.dropLast() : chain[...] {
            guard let problem = Self.problem(of: certificate, isAnchor: chain.count == 1) else { continue }
            return .failsToMeetPolicy(reason: "\(certificate.subjectText) \(problem)")
        }
        return .meetsPolicy
    }

    /// Why a certificate can't stand in the chain of a TLS server.
    private static func problem(of certificate: Certificate, isAnchor: Bool) -> String? {
        do {
            if let usage = try certificate.extensions.extendedKeyUsage {
                guard usage.contains(.serverAuth) || usage.contains(.any) else { return "is not for TLS servers" }
            }
        } catch {
            return "has an extension that can't be read"
        }
        let isForgeable = certificate.signatureAlgorithm == .sha1WithRSAEncryption && !isAnchor
        return isForgeable ? "is signed with SHA-1, which can be forged" : nil
    }
}
