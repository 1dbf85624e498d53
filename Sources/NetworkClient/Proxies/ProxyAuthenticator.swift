import Crypto
import NetworkClientCore

/// What a proxy was shown of the user.
struct ProxyProof: Sendable, Hashable {
    /// The value of `Proxy-Authorization`.
    var value: String
    /// The nonce that it was made with; nil for Basic.
    var nonce: String?
}

extension ProxyProof: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says that it is one, and nothing of what is in it.
    var description: String { "ProxyProof(hidden)" }
    /// The same.
    var debugDescription: String { description }
    /// Has no children.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Answers what a session's proxies want to know of the user, and remembers how each of them asks.
///
/// Basic (RFC 7617) is shown at once, as curl does: anyone who names a password for a proxy means that one to have it,
/// and most proxies take nothing else. A proxy that asks for Digest (RFC 7616) is shown nothing else from then on.
///
/// Belongs to the session's event loop, and is unchecked for that.
final class ProxyAuthenticator: @unchecked Sendable {
    /// So often one request, or one connection, is asked by its proxy at most.
    static let maximumChallenges = 4

    private var digests: [ProxyServer: DigestSession] = [:]

    /// What to show; nil where there is nothing.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - method: The request's method.
    ///   - target: Its target as on the request line.
    ///   - hasBody: Whether it has a body.
    /// - Returns: The value, and what it was made with.
    func proof(for proxy: ProxyServer, method: String, target: String, hasBody: Bool = false) -> ProxyProof? {
        guard let credential = proxy.credential else { return nil }
        guard digests[proxy] != nil else { return BasicAuthorization.value(credential).map { ProxyProof(value: $0) } }
        let request = DigestSession.Request(method: method, target: target, body: hasBody ? nil : [])
        let nonce = digests[proxy]?.challenge.nonce
        return digests[proxy]?.authorization(for: request, clientNonce: RandomToken.hexadecimal).map {
            .init(value: $0, nonce: nonce)
        }
    }

    /// Takes in a proxy's challenges.
    ///
    /// - Parameters:
    ///   - challenges: The values of `Proxy-Authenticate`.
    ///   - proxy: The proxy.
    ///   - proof: What it was shown; nil for nothing.
    /// - Returns: Whether it can be shown something else now, which it may take.
    func learn(_ challenges: [String], from proxy: ProxyServer, after proof: ProxyProof?) -> Bool {
        guard let credential = proxy.credential else { return false }
        let best = ChallengeTrail.ranked(ChallengeParser.challenges(in: challenges)).first
        guard let best else { return false }
        guard let digest = DigestChallenge(best) else {
            // Basic, which it was shown already, unless it had asked for Digest before.
            digests[proxy] = nil
            return proof?.nonce != nil
        }
        if let nonce = proof?.nonce, !digest.isStale {
            // Another request may have learnt another nonce meanwhile.
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
    /// What it is shown of the user.
    fileprivate var credential: Credential? { user.map { .init(user: $0, password: password ?? "") } }
}
