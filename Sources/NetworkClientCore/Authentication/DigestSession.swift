/// Answers the requests of a protection space by one challenge of the scheme Digest (RFC 7616, 3.4).
public struct DigestSession: Sendable {
    /// The challenge that is answered.
    public private(set) var challenge: DigestChallenge
    private let credential: Credential
    private let hashes: DigestHashes
    /// The hash of user, realm and password.
    private var key: String
    /// The client's part of the key of `-sess`, which stays as long as the challenge.
    private var sessionNonce: String?
    private var nonce: String
    private var count: UInt32 = 0

    /// What is asked for.
    public struct Request: Sendable {
        /// The method.
        public var method: String
        /// The target as on the request line; for CONNECT, host and port.
        public var target: String
        /// The body's bytes; nil if they are not known before they are sent.
        public var body: [UInt8]?

        /// Makes one.
        public init(method: String, target: String, body: [UInt8]? = []) {
            self.method = method
            self.target = target
            self.body = body
        }
    }

    /// Begins to answer a challenge; nil for a credential that no field can carry.
    public init?(_ challenge: DigestChallenge, _ credential: Credential, _ hashes: DigestHashes) {
        guard !credential.hasControlCharacters else { return nil }
        self.challenge = challenge
        self.credential = credential
        self.hashes = hashes
        nonce = challenge.nonce
        let secret = "\(credential.user):\(challenge.realm):\(credential.password)"
        key = challenge.algorithm.hash(secret, by: hashes)
    }

    /// How a request is answered for.
    private enum Manner {
        /// As before there were protections (RFC 2069).
        case plain
        case protecting(DigestProtection)
    }

    /// Whether a request can be answered for: one whose body is to be protected must be known whole.
    public func canAnswer(_ request: Request) -> Bool { manner(of: request) != nil }

    /// Whether answers are made with the request's body, since the server wants it protected.
    public var needsBody: Bool { challenge.protections?.contains(.request) == false }

    /// As little is protected as the server allows, so that it works with all.
    private func manner(of request: Request) -> Manner? {
        guard let protections = challenge.protections else { return .plain }
        if protections.contains(.request) { return .protecting(.request) }
        return request.body == nil ? nil : .protecting(.body)
    }

    /// The field's value for a request; counts it.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - clientNonce: Something random, of characters that need no escape.
    /// - Returns: The value; nil if the request can't be answered for, or the nonce was used as often as can be counted.
    public mutating func answer(_ request: Request, clientNonce: String) -> String? {
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

    /// The server has told with an answer which nonce comes next (`Authentication-Info`; RFC 7616, 3.5).
    public mutating func learn(nextNonce: String) {
        guard nextNonce != nonce else { return }
        nonce = nextNonce
        count = 0
    }

    /// Mixes the key of `-sess` with both nonces, once; the client's nonce to send.
    ///
    /// It stays the same then: there are servers that mix the key with that of each request.
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

    /// The user's name: hashed where the server wants that; where it is not ASCII, as the server can read it.
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
    /// Has no children: they are as good as the password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A parameter's value of any characters (RFC 8187, 3.2.1).
enum ExtendedValue {
    static func encoded(_ text: String) -> String {
        PercentEncoding.encoded(text.utf8) { $0.isASCIIAlphanumeric || "!#$&+-.^_`|~".utf8.contains($0) }
    }
}

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
        // It goes back as a token: letters of other scripts, whose upper case is ASCII, are no name.
        guard algorithmName?.utf8.allSatisfy(\.isTokenCharacter) ?? true else { return nil }
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

/// The hash functions that Digest needs, handed in: a pure target has none.
public struct DigestHashes: Sendable {
    /// A hash function: from bytes to bytes.
    public typealias Function = @Sendable (_ bytes: [UInt8]) -> [UInt8]

    /// MD5 (RFC 1321), which most servers know alone.
    public let md5: Function
    /// SHA-256 (FIPS 180-4).
    public let sha256: Function

    /// Takes the functions.
    public init(md5: @escaping Function, sha256: @escaping Function) {
        self.md5 = md5
        self.sha256 = sha256
    }
}

/// A hash function of Digest's (RFC 7616, 6.1), the weaker ones first.
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable, Comparable {
    /// MD5.
    case md5 = "MD5"
    /// SHA-256.
    case sha256 = "SHA-256"

    /// Whether the first is the weaker one.
    public static func < (first: Self, second: Self) -> Bool { first == .md5 && second == .sha256 }

    /// The hash of a text, in hexadecimal digits.
    func hash(_ text: String, by hashes: DigestHashes) -> String { hash(Array(text.utf8), by: hashes) }

    /// The hash of bytes, in hexadecimal digits.
    func hash(_ bytes: [UInt8], by hashes: DigestHashes) -> String {
        let hash = self == .md5 ? hashes.md5(bytes) : hashes.sha256(bytes)
        return hash.reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}
