/// A challenge of the scheme Digest that can be answered (RFC 7616, 3.3).
public struct DigestChallenge: Sendable, Hashable {
    /// What the server calls this part of it.
    public let realm: String
    /// What the answer is made with, so that none serves for ever.
    public let nonce: String
    /// What the server wants back as it is.
    public let opaque: String?
    /// The hash function.
    public let algorithm: DigestAlgorithm
    /// The hash function as the server calls it; nil if it does not say.
    public let algorithmName: String?
    /// Whether the password's hash is mixed with the first nonces (`-sess`).
    public let isSession: Bool
    /// What may be protected; nil for a server that knows nothing of this (RFC 2069).
    public let protections: Set<DigestProtection>?
    /// Whether only the nonce of the answer before was too old.
    public let isStale: Bool
    /// Whether the user's name is to be hashed.
    public let hashesUser: Bool
    /// Whether names go as UTF-8, in the notation of RFC 8187.
    public let isUnicode: Bool
    /// The paths and URLs for which the answer holds too; empty for the whole origin.
    public let domain: [String]

    /// Reads a challenge; nil if it is another scheme's, or can't be answered: another hash function, other protections.
    public init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let realm = challenge.realm, let nonce = challenge["nonce"] else {
            return nil
        }
        self.realm = realm
        self.nonce = nonce
        opaque = challenge["opaque"]
        algorithmName = challenge["algorithm"]
        let name = algorithmName?.uppercased() ?? "MD5"
        isSession = name.hasSuffix("-SESS")
        guard let algorithm = DigestAlgorithm(rawValue: isSession ? String(name.dropLast(5)) : name) else { return nil }
        self.algorithm = algorithm
        protections = challenge["qop"].flatMap(Self.protections)
        if let protections, protections.isEmpty { return nil }
        // Its key is mixed with the client's nonce, which goes only where something is protected.
        if isSession, protections == nil { return nil }
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        isUnicode = challenge["charset"]?.lowercased() == "utf-8"
        domain = challenge["domain"]?.split(separator: " ").map(String.init) ?? []
    }

    /// The protections that are known of a list; nil if the list is empty, as if there was none.
    private static func protections(_ list: String) -> Set<DigestProtection>? {
        let names = list.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
        return names.isEmpty ? nil : Set(names.compactMap { DigestProtection(rawValue: $0) })
    }
}

/// What an answer protects (RFC 7616, 3.3: `qop`).
public enum DigestProtection: String, Sendable, Hashable {
    /// Method and target.
    case request = "auth"
    /// The body too.
    case body = "auth-int"
}
