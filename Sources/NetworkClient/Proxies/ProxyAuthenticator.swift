import Crypto
import NetworkClientCore

/// The authorization that a proxy was sent.
struct ProxyProof: Sendable, Hashable {
    /// The value of `Proxy-Authorization`.
    var value: String
    /// The nonce of the Digest challenge that it was computed with; nil for Basic.
    var nonce: String?
}

extension ProxyProof: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder without the credentials.
    var description: String { "ProxyProof(hidden)" }
    /// A placeholder without the credentials.
    var debugDescription: String { description }
    /// Has no children.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Computes the authorization for a session's proxies, and remembers the challenge of each.
///
/// Basic (RFC 7617) is sent preemptively, as curl does: a password that is configured for a proxy is meant for it, and
/// most proxies accept nothing else. A proxy that has asked for Digest (RFC 7616) is sent only that from then on.
///
/// Confined to the session's event loop, and unchecked for that reason.
final class ProxyAuthenticator: @unchecked Sendable {
    /// The maximum number of challenges by a proxy that one request or connection responds to.
    static let maximumChallenges = 4

    private var digests: [ProxyServer: DigestSession] = [:]

    /// Returns the authorization to send; nil for none.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - method: The request's method.
    ///   - target: The request target, as on the request line.
    ///   - hasBody: Whether it has a body.
    /// - Returns: The value of the field, and the nonce.
    func proof(for proxy: ProxyServer, method: String, target: String, hasBody: Bool = false) -> ProxyProof? {
        guard let credential = proxy.credential else { return nil }
        guard digests[proxy] != nil else { return BasicAuthorization.value(credential).map { ProxyProof(value: $0) } }
        let request = DigestSession.Request(method: method, target: target, body: hasBody ? nil : [])
        let nonce = digests[proxy]?.challenge.nonce
        return digests[proxy]?.authorization(for: request, clientNonce: RandomToken.hexadecimal).map {
            .init(value: $0, nonce: nonce)
        }
    }

    /// Processes the challenges of a proxy.
    ///
    /// - Parameters:
    ///   - challenges: The values of `Proxy-Authenticate`.
    ///   - proxy: The proxy.
    ///   - proof: The authorization that it was sent; nil for none.
    /// - Returns: Whether there is now a different authorization to send, which it may accept.
    func learn(_ challenges: [String], from proxy: ProxyServer, after proof: ProxyProof?) -> Bool {
        guard let credential = proxy.credential else { return false }
        let best = ChallengeTrail.ranked(ChallengeParser.challenges(in: challenges)).first
        guard let best else { return false }
        guard let digest = DigestChallenge(best) else {
            // Basic has already been sent, unless the proxy had asked for Digest before.
            digests[proxy] = nil
            return proof?.nonce != nil
        }
        if let nonce = proof?.nonce, !digest.isStale {
            // Another request may have received a newer nonce.
            return digests[proxy].map { $0.challenge.nonce != nonce } ?? false
        }
        digests[proxy] = DigestSession(digest, credential, Self.hashes)
        return digests[proxy] != nil
    }

    private static let hashes = DigestHashes(
        md5: { Array(Insecure.MD5.hash(data: $0)) },
        sha256: { Array(SHA256.hash(data: $0)) }
    )
}

extension ProxyServer {
    /// The credentials for this proxy.
    fileprivate var credential: Credential? { user.map { .init(user: $0, password: password ?? "") } }
}
