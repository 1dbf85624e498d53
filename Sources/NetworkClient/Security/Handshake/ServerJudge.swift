import NIOSSL
import X509

/// Finds the verdict on one server: the policy's, and the challenge handler's over it.
struct ServerJudge: Sendable {
    let name: ServerName
    let policy: PreparedPolicy
    let roots: TrustRoots
    let namedRoots: [Certificate]
    let challengeHandler: ChallengeHandler?

    /// Why the server is refused; nil if it is accepted.
    func refusal(of encoded: [[UInt8]]) async -> HTTPError? {
        let refusal = await policyRefusal(of: encoded)
        guard let challengeHandler else { return refusal }
        let challenge = ServerChallenge(host: name.text, presentedChain: encoded, policyRefusal: refusal)
        switch await challengeHandler(challenge) {
        case .accept: return nil
        case .usePolicy: return refusal
        case .refuse(let error):
            let reason = "the challenge handler refused \(name.text): \(String(describing: error).printable)"
            return HTTPError(.challengeRefused, .neverSent, reason, cause: error)
        }
    }

    private func policyRefusal(of encoded: [[UInt8]]) async -> HTTPError? {
        let chain = PresentedChain(encoded)
        guard roots.includesSystem, policy.needsRoots else {
            return await evaluation(of: chain, Anchors(namedRoots)).refusal()
        }
        switch SystemRoots.shared {
        case .success(let store): return await evaluation(of: chain, Anchors(namedRoots, beside: store)).refusal()
        case .failure(let error):
            let refusal = await evaluation(of: chain, Anchors(namedRoots)).refusal()
            return refusal?.code == .certificateUntrusted ? error : refusal
        }
    }

    private func evaluation(of chain: PresentedChain, _ anchors: Anchors) -> TrustEvaluation {
        TrustEvaluation(policy, roots: anchors, chain: chain, name: name)
    }
}

extension PreparedPolicy {
    /// Whether a verdict can turn on the trusted roots.
    fileprivate var needsRoots: Bool { policy.mode != .none || !policy.allowsInvalidCertificates }
}
