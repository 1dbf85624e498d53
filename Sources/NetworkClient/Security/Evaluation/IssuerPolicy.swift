import SwiftASN1
import X509

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
