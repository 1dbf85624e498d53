import FoundationEssentials
import SwiftASN1
import X509

/// The reason why no valid path leads from a server's certificate to an anchor.
struct ChainFailure: Error {
    /// The error.
    let error: HTTPError
    /// Whether there is a path at all, though not a valid one.
    let hasPath: Bool
}

/// Finds a valid path from a server's certificate to an anchor, or the reason why there is none.
struct ChainValidator: Sendable {
    let chain: PresentedChain
    /// The name that the certificate must have; nil if the name is not checked.
    let name: ServerName?
    /// The requested host, for errors.
    let host: String

    /// Returns the path, with the server's certificate first and an anchor last.
    ///
    /// If hashes of keys are given, only a path that contains one of these keys is valid.
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

    /// Validates a chain that leads to an anchor other than the server's certificate.
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

    /// Validates a chain of one certificate: the server's own, which is itself an anchor, whether it is a CA or not.
    private func validateAnchor(_ leaf: Certificate, _ keyHashes: Set<[UInt8]>?) async -> CertificateValidationResult {
        var verifier = Verifier(rootCertificates: CertificateStore([leaf])) {
            DatePolicy()
            ServerUsagePolicy()
            if let name { ServerNamePolicy(name) }
            if let keyHashes { PinnedKeyPolicy(keyHashes: keyHashes) }
        }
        return await verifier.validate(leaf: leaf, intermediates: CertificateStore())
    }

    /// Returns whether signatures link the server's certificate to one with one of these keys, regardless of dates,
    /// names and roots.
    ///
    /// A certificate that was merely sent along does not count: the one below it must be signed with its key.
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

/// The certificates that a server presented, its own first, as far as they can be parsed.
struct PresentedChain: Sendable {
    /// The maximum number of certificates that are used.
    ///
    /// Real chains have two to four. The cost of the search for a path grows faster than the number of certificates,
    /// which a hostile server could exploit.
    static let limit = 16

    /// The server's certificate; nil if it can't be parsed.
    let leaf: Certificate?
    /// The other certificates, which are unverified.
    let others: [Certificate]
    /// All of them in DER, including those that can't be parsed.
    let encoded: [[UInt8]]

    init(_ encoded: [[UInt8]]) {
        self.encoded = encoded
        leaf = encoded.first.flatMap { try? Certificate(derEncoded: $0) }
        others = encoded.dropFirst().prefix(Self.limit - 1).compactMap { try? Certificate(derEncoded: $0) }
    }
}

/// Checks the validity dates of all certificates of a chain.
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

/// Checks only that each certificate of a chain was issued by a CA; the rest of it may be invalid.
struct IssuerPolicy: VerifierPolicy, Sendable {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.keyUsage,
        .X509ExtensionID.nameConstraints, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        guard let problem = Self.problem(in: chain) else { return .meetsPolicy }
        return .failsToMeetPolicy(reason: problem)
    }

    /// Returns which certificate can't have issued the one below it, and why; nil if all can.
    static func problem(in chain: UnverifiedCertificateChain) -> String? {
        for (index, issuer) in chain.enumerated().dropFirst() {
            let between = chain.prefix(index).dropFirst().count { !$0.isSelfIssued }
            let problem = problem(of: issuer, above: between, isAnchor: index == chain.count - 1)
            if let problem { return "\(issuer.subjectText) \(problem)" }
        }
        return nil
    }

    /// Returns why a certificate can't have issued another one, with a number of CAs between it and the server's
    /// certificate.
    ///
    /// A certificate of version 1 has no extension that marks it as a CA, so it is accepted as one only if it is itself
    /// an anchor.
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

/// Checks that a chain contains one of the given keys.
struct PinnedKeyPolicy: VerifierPolicy, Sendable {
    let keyHashes: Set<[UInt8]>
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = []

    init(keyHashes: Set<[UInt8]>) { self.keyHashes = keyHashes }

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        let isPinned = chain.contains { certificate in certificate.keyHash.map(keyHashes.contains) ?? false }
        return isPinned ? .meetsPolicy : .failsToMeetPolicy(reason: "no key of the chain is pinned")
    }
}

/// Checks the permitted usage of a chain's certificates, which RFC 5280's own policy leaves out.
struct ServerUsagePolicy: VerifierPolicy, Sendable {
    /// Names are in this list because they are checked separately, or deliberately not at all.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.keyUsage, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        if let problem = IssuerPolicy.problem(in: chain) { return .failsToMeetPolicy(reason: problem) }
        // An anchor is trusted regardless of its extensions, unless it is the server's own certificate.
        for certificate in chain.count > 1 ? chain.dropLast() : chain[...] {
            guard let problem = Self.problem(of: certificate, isAnchor: chain.count == 1) else { continue }
            return .failsToMeetPolicy(reason: "\(certificate.subjectText) \(problem)")
        }
        return .meetsPolicy
    }

    /// Returns why a certificate can't be part of the chain of a TLS server.
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
