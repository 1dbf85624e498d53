import SwiftASN1
import X509

/// Checks no more than that each certificate of a chain was issued by an authority: the rest of it may be invalid.
struct IssuerPolicy: VerifierPolicy, Sendable {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.keyUsage,
        .X509ExtensionID.nameConstraints, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        for (index, issuer) in chain.enumerated().dropFirst() {
            let between = chain.prefix(index).dropFirst().count { !$0.isSelfIssued }
            guard mayIssue(issuer, through: between, isAnchor: index == chain.count - 1) else {
                return .failsToMeetPolicy(reason: "\(issuer.subjectText) is no authority")
            }
        }
        return .meetsPolicy
    }

    /// Whether a certificate may have issued one, with so many authorities between it and the server's.
    private func mayIssue(_ issuer: Certificate, through between: Int, isAnchor: Bool) -> Bool {
        if issuer.version == .v1 { return isAnchor }
        guard case .isCertificateAuthority(let limit)? = try? issuer.extensions.basicConstraints else { return false }
        return between <= limit ?? between
    }
}
