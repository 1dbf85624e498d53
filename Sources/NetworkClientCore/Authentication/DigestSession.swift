/// Computes the credentials of requests in a protection space from one challenge of the scheme Digest (RFC 7616, 3.4).
package struct DigestSession: Sendable {
    /// The challenge for which credentials are computed.
    package private(set) var challenge: DigestChallenge
    private let credential: Credential
    private let hashes: DigestHashes
    /// The hash of user name, realm and password.
    private var key: String
    /// The client nonce in the key of a `-sess` algorithm.
    ///
    /// It stays the same for the whole challenge.
    private var sessionNonce: String?
    private var nonce: String
    private var count: UInt32 = 0

    /// The parts of a request that are hashed.
    package struct Request: Sendable {
        /// The method.
        package var method: String
        /// The target as on the request line; for CONNECT, host and port.
        package var target: String
        /// The bytes of the body; nil if they are unknown until they are sent.
        package var body: [UInt8]?

        /// Creates a description of a request.
        package init(method: String, target: String, body: [UInt8]? = []) {
            self.method = method
            self.target = target
            self.body = body
        }
    }

    /// Creates a session for a challenge; nil for a credential that no field can represent.
    package init?(_ challenge: DigestChallenge, _ credential: Credential, _ hashes: DigestHashes) {
        guard !credential.hasControlCharacters else { return nil }
        self.challenge = challenge
        self.credential = credential
        self.hashes = hashes
        nonce = challenge.nonce
        let secret = "\(credential.user):\(challenge.realm):\(credential.password)"
        key = challenge.algorithm.hash(secret, by: hashes)
    }

    /// The form of the computation.
    private enum Manner {
        /// The older form without quality of protection (RFC 2069).
        case plain
        case protecting(DigestProtection)
    }

    /// Returns whether credentials can be computed for a request: if the body has to be protected, all of it must be
    /// known.
    package func canAuthorize(_ request: Request) -> Bool { manner(of: request) != nil }

    /// Whether the body is needed to compute credentials, since the server requires its protection.
    package var needsBody: Bool { challenge.protections?.contains(.request) == false }

    /// Returns the form for a request: the weakest protection that the server allows, for compatibility.
    private func manner(of request: Request) -> Manner? {
        guard let protections = challenge.protections else { return .plain }
        if protections.contains(.request) { return .protecting(.request) }
        return request.body == nil ? nil : .protecting(.body)
    }

    /// Returns the field's value for a request, and increments the nonce count.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - clientNonce: A random text of characters that need no escaping.
    /// - Returns: The value; nil if no credentials can be computed for the request, or if the nonce count is exhausted.
    package mutating func authorization(for request: Request, clientNonce: String) -> String? {
        guard count < .max, let manner = manner(of: request) else { return nil }
        count += 1
        let clientNonce = sessionKey(clientNonce)
        let digits = String(count, radix: 16)
        let counted = String(repeating: "0", count: 8 - digits.count) + digits
        var parts = [user, "realm=\(quoted(challenge.realm))", "uri=\(quoted(request.target))"]
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        parts.append("nonce=\(quoted(nonce))")
        var middle = nonce
        if case .protecting(let protection) = manner {
            parts += ["nc=\(counted)", "cnonce=\(quoted(clientNonce))", "qop=\(protection.rawValue)"]
            middle += ":\(counted):\(clientNonce):\(protection.rawValue)"
        }
        let response = hash("\(key):\(middle):\(hash(what(request, manner)))")
        parts.append("response=\"\(response)\"")
        if let opaque = challenge.opaque { parts.append("opaque=\(quoted(opaque))") }
        if challenge.hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// Sets the next nonce, which the server sent with a response (`Authentication-Info`; RFC 7616, 3.5).
    package mutating func learn(nextNonce: String) {
        guard nextNonce != nonce else { return }
        nonce = nextNonce
        count = 0
    }

    /// Computes the key of a `-sess` algorithm from both nonces on the first call.
    ///
    /// Returns the client nonce to send.
    ///
    /// The client nonce stays the same from then on, since some servers compute the key from the client nonce of each
    /// request.
    private mutating func sessionKey(_ clientNonce: String) -> String {
        guard challenge.isSession else { return clientNonce }
        if let sessionNonce { return sessionNonce }
        key = hash("\(key):\(nonce):\(clientNonce)")
        sessionNonce = clientNonce
        return clientNonce
    }

    private func what(_ request: Request, _ manner: Manner) -> String {
        let what = "\(request.method):\(request.target)"
        guard case .protecting(.body) = manner, let body = request.body else { return what }
        return "\(what):\(challenge.algorithm.hash(body, by: hashes))"
    }

    /// The user name: hashed if the server requires it, and in UTF-8 if it is not ASCII and the server supports it.
    private var user: String {
        if challenge.hashesUser { return "username=\"\(hash("\(credential.user):\(challenge.realm)"))\"" }
        let isASCII = credential.user.utf8.allSatisfy { $0 < 0x80 }
        guard !isASCII, challenge.isUnicode else { return "username=\(quoted(credential.user))" }
        return "username*=UTF-8''\(ExtendedValue.encoded(credential.user))"
    }

    private func hash(_ text: String) -> String { challenge.algorithm.hash(text, by: hashes) }

    private func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }
}

extension DigestSession: CustomReflectable {
    /// A mirror without children: they are as secret as the password.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A parameter value with arbitrary characters (RFC 8187, 3.2.1).
enum ExtendedValue {
    static func encoded(_ text: String) -> String {
        PercentEncoding.encoded(text.utf8) { $0.isASCIIAlphanumeric || "!#$&+-.^_`|~".utf8.contains($0) }
    }
}

/// A supported challenge of the scheme Digest (RFC 7616, 3.3).
package struct DigestChallenge: Sendable, Hashable {
    /// The name of the protection space.
    package let realm: String
    /// The server's nonce, which limits the lifetime of credentials.
    package let nonce: String
    /// A value that the client returns unchanged.
    package let opaque: String?
    /// The hash function.
    package let algorithm: DigestAlgorithm
    /// The name of the hash function as the server wrote it; nil if there is none.
    package let algorithmName: String?
    /// Whether the password's hash is mixed with the first nonces (`-sess`).
    package let isSession: Bool
    /// The supported qualities of protection; nil if the server sends no `qop` (RFC 2069).
    package let protections: Set<DigestProtection>?
    /// Whether the previous credentials were rejected only because of an expired nonce.
    package let isStale: Bool
    /// Whether the user name has to be hashed.
    package let hashesUser: Bool
    /// Whether names are sent in UTF-8, in the notation of RFC 8187.
    package let isUnicode: Bool
    /// The paths and URLs in the protection space; empty for the whole origin.
    package let domain: [String]

    /// Creates a challenge; nil if it has another scheme, or an unsupported hash function or protection.
    package init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let realm = challenge.realm, let nonce = challenge["nonce"] else {
            return nil
        }
        self.realm = realm
        self.nonce = nonce
        opaque = challenge["opaque"]
        algorithmName = challenge["algorithm"]
        // It goes back as a token: letters of other scripts, whose upper case is ASCII, are no name.
        guard algorithmName?.utf8.allSatisfy(\.isTokenCharacter) ?? true else { return nil }
        let name = algorithmName?.uppercased() ?? "MD5"
        isSession = name.hasSuffix("-SESS")
        guard let algorithm = DigestAlgorithm(rawValue: isSession ? String(name.dropLast(5)) : name) else { return nil }
        self.algorithm = algorithm
        protections = challenge["qop"].flatMap(Self.protections)
        if let protections, protections.isEmpty { return nil }
        // The key of a `-sess` algorithm needs the client nonce, which is sent only with a `qop`.
        if isSession, protections == nil { return nil }
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        isUnicode = challenge["charset"]?.lowercased() == "utf-8"
        domain = challenge["domain"]?.split(separator: " ").map(String.init) ?? []
    }

    /// Returns the supported protections of a list; nil if the list is empty, which means that there is none.
    private static func protections(_ list: String) -> Set<DigestProtection>? {
        let names = list.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
        return names.isEmpty ? nil : Set(names.compactMap { DigestProtection(rawValue: $0) })
    }
}

/// The quality of protection (`qop`; RFC 7616, 3.3).
package enum DigestProtection: String, Sendable, Hashable {
    /// Protects the method and the target.
    case request = "auth"
    /// Protects the body as well.
    case body = "auth-int"
}

/// The hash functions for Digest.
///
/// They are passed in, since this module contains none.
package struct DigestHashes: Sendable {
    /// A hash function: from bytes to bytes.
    package typealias Function = @Sendable (_ bytes: [UInt8]) -> [UInt8]

    /// MD5 (RFC 1321), the only one that most servers support.
    package let md5: Function
    /// SHA-256 (FIPS 180-4).
    package let sha256: Function

    /// Creates a set of functions.
    package init(md5: @escaping Function, sha256: @escaping Function) {
        self.md5 = md5
        self.sha256 = sha256
    }
}

/// A hash function for Digest (RFC 7616, 6.1), ordered by strength.
package enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable, Comparable {
    /// MD5.
    case md5 = "MD5"
    /// SHA-256.
    case sha256 = "SHA-256"

    /// Whether the first is weaker than the second.
    package static func < (first: Self, second: Self) -> Bool { first == .md5 && second == .sha256 }

    /// Returns the hash of a text in hexadecimal digits.
    func hash(_ text: String, by hashes: DigestHashes) -> String { hash(Array(text.utf8), by: hashes) }

    /// Returns the hash of bytes in hexadecimal digits.
    func hash(_ bytes: [UInt8], by hashes: DigestHashes) -> String {
        let hash = self == .md5 ? hashes.md5(bytes) : hashes.sha256(bytes)
        return hash.reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}
