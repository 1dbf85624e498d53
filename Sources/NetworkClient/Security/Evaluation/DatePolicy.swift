import FoundationEssentials
import SwiftASN1
import X509

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
