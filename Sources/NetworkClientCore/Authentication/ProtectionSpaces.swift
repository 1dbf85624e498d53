/// The protection spaces that a session knows, and how their challenges are answered (RFC 9110, 11.5).
///
/// A space is an origin and a realm. What is known of one never serves another origin.
public struct ProtectionSpaces: Sendable {
    /// A space whose challenge was answered.
    public struct Space: Sendable {
        /// What the server calls it.
        public let realm: String
        /// Who answers.
        public let credential: Credential
        /// Whether every request may be answered for, rather than only those that bring the same credential.
        public let isShared: Bool
        /// How.
        public internal(set) var answer: Answer
        /// The paths beneath which it is assumed; empty for the whole origin.
        var prefixes: [String]

        /// Describes one.
        ///
        /// - Parameters:
        ///   - realm: What the server calls it.
        ///   - credential: Who answers.
        ///   - isShared: Whether every request may be answered for.
        ///   - answer: How.
        ///   - path: The path of the request that was asked.
        public init(realm: String, credential: Credential, isShared: Bool, answer: Answer, path: String) {
            self.realm = realm
            self.credential = credential
            self.isShared = isShared
            self.answer = answer
            prefixes = []
            if case .basic = answer { prefixes = [Self.directory(of: path)] }
        }

        /// A path up to and with its last slash: what lies at it or deeper is assumed to be in the same space (RFC
        /// 7617, 2.2).
        static func directory(of path: String) -> String {
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" }
            return String(path[...slash])
        }

        /// How long the longest prefix is that a path has; nil if it is not assumed to be in the space.
        func reach(_ path: String) -> Int? {
            guard !prefixes.isEmpty else { return 0 }
            return prefixes.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
        }
    }

    /// How a challenge is answered.
    public enum Answer: Sendable {
        /// With this value.
        case basic(String)
        /// With a value of its own for each request.
        case digest(DigestSession)

        /// The scheme in lower case.
        public var scheme: String {
            switch self {
            case .basic: "basic"
            case .digest: "digest"
            }
        }

        /// Whether it is made with the request's body.
        public var needsBody: Bool {
            switch self {
            case .basic: false
            case .digest(let session): session.needsBody
            }
        }
    }

    /// So many are kept of one origin, and of so many origins.
    private static let capacity = (spaces: 16, origins: 256)

    private var known: [HTTPOrigin: [Space]] = [:]

    /// Knows none.
    public init() {}

    /// A space that was answered for, or is answered otherwise now.
    public mutating func keep(_ space: Space, at origin: HTTPOrigin) {
        var spaces = known[origin] ?? []
        var space = space
        if let index = spaces.firstIndex(where: { $0.realm == space.realm && $0.credential == space.credential }) {
            let old = spaces.remove(at: index)
            if case .basic = space.answer { space.prefixes = Self.joined(old.prefixes, space.prefixes) }
        }
        spaces.append(space)
        if spaces.count > Self.capacity.spaces { spaces.removeFirst() }
        if known[origin] == nil, known.count >= Self.capacity.origins { known = [:] }
        known[origin] = spaces
    }

    private static func joined(_ old: [String], _ new: [String]) -> [String] {
        let prefixes = old.filter { prefix in !new.contains { prefix.hasPrefix($0) } }
        let added = new.filter { prefix in !prefixes.contains { prefix.hasPrefix($0) } }
        return Array((prefixes + added).suffix(capacity.spaces))
    }

    /// A space whose answer was refused.
    public mutating func forget(_ realm: String, _ credential: Credential, at origin: HTTPOrigin) {
        known[origin]?.removeAll { $0.realm == realm && $0.credential == credential }
        if known[origin]?.isEmpty == true { known[origin] = nil }
    }

    /// The space that a path is assumed to be in, and its number for ``answer(_:at:for:clientNonce:)``.
    ///
    /// - Parameters:
    ///   - path: The path that is asked for.
    ///   - origin: Where.
    ///   - credential: What the request brings; nil for one that uses what all may use.
    /// - Returns: The space whose prefix says most of the path, of several the newest.
    public func space(of path: String, at origin: HTTPOrigin, for credential: Credential?) -> (Space, number: Int)? {
        guard let spaces = known[origin] else { return nil }
        var best: (number: Int, reach: Int)?
        for (number, space) in spaces.enumerated() {
            guard credential.map({ $0 == space.credential }) ?? space.isShared else { continue }
            guard let reach = space.reach(path), reach >= best?.reach ?? 0 else { continue }
            best = (number, reach)
        }
        return best.map { (spaces[$0.number], $0.number) }
    }

    /// The credential that answers for a realm, no matter who asks; nil if there is none, the newest of several.
    public func sharedCredential(of realm: String, at origin: HTTPOrigin) -> Credential? {
        known[origin]?.last { $0.realm == realm && $0.isShared }?.credential
    }

    /// The space of a realm for which a credential answered, and its number for ``answer(_:at:for:clientNonce:)``.
    ///
    /// - Parameters:
    ///   - realm: What the server calls it.
    ///   - credential: Who answered.
    ///   - origin: Where.
    /// - Returns: The space; nil if it was forgotten.
    public func space(
        of realm: String,
        _ credential: Credential,
        at origin: HTTPOrigin
    ) -> (Space, number: Int)? {
        guard let spaces = known[origin] else { return nil }
        let number = spaces.firstIndex { $0.realm == realm && $0.credential == credential }
        return number.map { (spaces[$0], $0) }
    }

    /// The field's value by which a space answers for a request; counts it.
    ///
    /// - Parameters:
    ///   - number: The space, as ``space(of:at:for:)`` has just given it.
    ///   - origin: Where.
    ///   - request: What is asked for.
    ///   - clientNonce: Something random.
    /// - Returns: The value; nil if the request can't be answered for.
    public mutating func answer(
        _ number: Int,
        at origin: HTTPOrigin,
        for request: DigestSession.Request,
        clientNonce: String
    ) -> String? {
        switch known[origin]?[number].answer {
        case .basic(let value): return value
        case .digest(var session):
            let value = session.answer(request, clientNonce: clientNonce)
            known[origin]?[number].answer = .digest(session)
            return value
        case nil: return nil
        }
    }

    /// An answer told the nonce that comes next in a space.
    public mutating func learn(nextNonce: String, of realm: String, _ credential: Credential, at origin: HTTPOrigin) {
        let place = known[origin]?.firstIndex { $0.realm == realm && $0.credential == credential }
        guard let place, case .digest(var session)? = known[origin]?[place].answer else { return }
        session.learn(nextNonce: nextNonce)
        known[origin]?[place].answer = .digest(session)
    }
}

extension ProtectionSpaces: CustomReflectable {
    /// Has no children: they hold what is as good as passwords.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ProtectionSpaces.Answer: CustomReflectable, CustomStringConvertible {
    /// The scheme.
    public var description: String { scheme }
    /// Has no children: Basic's is the password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Scheme, host and port: what credentials belong to, and never leave (RFC 9110, 4.3.1).
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Whether the scheme is https.
    public let isSecure: Bool
    /// The host as it is compared: ASCII, lower case, without brackets.
    public let host: String
    /// The port.
    public let port: Int

    /// Makes an origin.
    public init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// As a URL without a path: `https://example.com:8443`.
    public var description: String {
        let name = HostText.host(host)
        let suffix = port == (isSecure ? 443 : 80) ? "" : ":\(port)"
        return "\(isSecure ? "https" : "http")://\(name)\(suffix)"
    }
}
