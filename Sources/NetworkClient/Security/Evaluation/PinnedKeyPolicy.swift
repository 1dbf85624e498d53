import SwiftASN1
import X509

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
