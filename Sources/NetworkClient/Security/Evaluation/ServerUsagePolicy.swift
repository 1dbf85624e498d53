import SwiftASN1
import X509

/// Checks what a chain's certificates may be used for, which RFC 5280's own policy leaves out.
struct ServerUsagePolicy: VerifierPolicy, Sendable {
    /// Names are in this list because they are checked apart, or on purpose not at all.
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.keyUsage, .X509ExtensionID.subjectAlternativeName,
    ]

    func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        for (index, certificate) in chain.enumerated() {
            let isAnchor = index == chain.count - 1
            let problem = Self.problem(of: certificate, issues: index > 0, isAnchor: isAnchor)
            if let problem { return .failsToMeetPolicy(reason: "\(certificate.subjectText) \(problem)") }
        }
        return .meetsPolicy
    }

    /// Why a certificate can't stand where it does in the chain.
    private static func problem(of certificate: Certificate, issues: Bool, isAnchor: Bool) -> String? {
        do {
            if issues, let problem = try issuerProblem(of: certificate, isAnchor: isAnchor) { return problem }
            if isAnchor && issues { return nil }
            if let usage = try certificate.extensions.extendedKeyUsage,
                !usage.contains(.serverAuth), !usage.contains(.any)
            {
                return "is not for TLS servers"
            }
        } catch {
            return "has an extension that can't be read"
        }
        let isForgeable = certificate.signatureAlgorithm == .sha1WithRSAEncryption
        return isForgeable && !isAnchor ? "is signed with SHA-1, which can be forged" : nil
    }

    /// Why a certificate can't have issued another.
    ///
    /// One of version 1 can't say that it is no authority, so that it is one only where it is trusted itself.
    private static func issuerProblem(of certificate: Certificate, isAnchor: Bool) throws -> String? {
        if certificate.version == .v1, !isAnchor { return "is of version 1, and so no authority" }
        guard let usage = try certificate.extensions.keyUsage, !usage.keyCertSign else { return nil }
        return "may not sign certificates"
    }
}
