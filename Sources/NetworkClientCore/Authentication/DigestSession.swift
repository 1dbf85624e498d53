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
        text.utf8.reduce(into: "") { encoded, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: encoded.unicodeScalars.append(.init(byte))
            case _ where "!#$&+-.^_`|~".utf8.contains(byte): encoded.unicodeScalars.append(.init(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
    }
}
