import SwiftASN1
import X509

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
