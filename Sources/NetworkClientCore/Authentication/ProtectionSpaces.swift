/// The protection spaces that a session knows, and the credentials for them (RFC 9110, 11.5).
///
/// A protection space is an origin and a realm. Credentials of one origin are never sent to another.
package struct ProtectionSpaces: Sendable {
    /// A protection space for which credentials were sent.
    package struct Space: Sendable {
        /// The realm.
        package let realm: String
        /// The user name and the password.
        package let credential: Credential
        /// Whether all requests may use the credential, rather than only those that were given the same one.
        package let isShared: Bool
        /// The credentials that are sent for its challenge.
        package internal(set) var authorization: Authorization
        /// The path prefixes that are assumed to be in the space; empty for the whole origin.
        var prefixes: [String]

        /// Creates a protection space.
        ///
        /// - Parameters:
        ///   - realm: The realm.
        ///   - credential: The user name and the password.
        ///   - isShared: Whether all requests may use the credential.
        ///   - authorization: The credentials that are sent for its challenge.
        ///   - path: The path of the request that was challenged.
        package init(
            realm: String,
            credential: Credential,
            isShared: Bool,
            authorization: Authorization,
            path: String
        ) {
            self.realm = realm
            self.credential = credential
            self.isShared = isShared
            self.authorization = authorization
            prefixes = []
            if case .basic = authorization { prefixes = [Self.directory(of: path)] }
        }

        /// Returns a path up to and including its last slash: paths at that depth or deeper are assumed to be in the
        /// same space (RFC 7617, 2.2).
        static func directory(of path: String) -> String {
            guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" }
            return String(path[...slash])
        }

        /// Returns the length of the longest prefix of a path; nil if the path is not assumed to be in the space.
        func reach(_ path: String) -> Int? {
            guard !prefixes.isEmpty else { return 0 }
            return prefixes.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
        }
    }

    /// The credentials for a challenge, by scheme.
    package enum Authorization: Sendable {
        /// The same value for all requests.
        case basic(String)
        /// A value that is computed for each request.
        case digest(DigestSession)

        /// The scheme in lower case.
        package var scheme: String {
            switch self {
            case .basic: "basic"
            case .digest: "digest"
            }
        }

        /// Whether the request's body is needed to compute the credentials.
        package var needsBody: Bool {
            switch self {
            case .basic: false
            case .digest(let session): session.needsBody
            }
        }
    }

    /// The maximum number of spaces of one origin, and of origins.
    private static let capacity = (spaces: 16, origins: 256)

    private var known: [HTTPOrigin: [Space]] = [:]

    /// Creates an empty list of protection spaces.
    package init() {}

    /// Stores a space, or replaces its credentials.
    package mutating func keep(_ space: Space, at origin: HTTPOrigin) {
        var spaces = known[origin] ?? []
        var space = space
        if let index = spaces.firstIndex(where: { $0.realm == space.realm && $0.credential == space.credential }) {
            let old = spaces.remove(at: index)
            if case .basic = space.authorization { space.prefixes = Self.joined(old.prefixes, space.prefixes) }
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

    /// Removes a space whose credentials were rejected.
    package mutating func forget(_ realm: String, _ credential: Credential, at origin: HTTPOrigin) {
        known[origin]?.removeAll { $0.realm == realm && $0.credential == credential }
        if known[origin]?.isEmpty == true { known[origin] = nil }
    }

    /// Returns the space that is assumed for a path, and its number for ``authorization(_:at:for:clientNonce:)``.
    ///
    /// - Parameters:
    ///   - path: The path of the request.
    ///   - origin: The origin of the request.
    ///   - credential: The credential of the request; nil for a request that uses shared credentials.
    /// - Returns: The space with the longest matching prefix, and the newest of several; nil if there is none.
    package func space(of path: String, at origin: HTTPOrigin, for credential: Credential?) -> (Space, number: Int)? {
        guard let spaces = known[origin] else { return nil }
        var best: (number: Int, reach: Int)?
        for (number, space) in spaces.enumerated() {
            guard credential.map({ $0 == space.credential }) ?? space.isShared else { continue }
            guard let reach = space.reach(path), reach >= best?.reach ?? 0 else { continue }
            best = (number, reach)
        }
        return best.map { (spaces[$0.number], $0.number) }
    }

    /// Returns the shared credential of a realm, the newest of several; nil if there is none.
    package func sharedCredential(of realm: String, at origin: HTTPOrigin) -> Credential? {
        known[origin]?.last { $0.realm == realm && $0.isShared }?.credential
    }

    /// Returns the space of a realm and a credential, and its number for ``authorization(_:at:for:clientNonce:)``.
    ///
    /// - Parameters:
    ///   - realm: The realm.
    ///   - credential: The credential.
    ///   - origin: The origin.
    /// - Returns: The space; nil if it was removed.
    package func space(
        of realm: String,
        _ credential: Credential,
        at origin: HTTPOrigin
    ) -> (Space, number: Int)? {
        guard let spaces = known[origin] else { return nil }
        let number = spaces.firstIndex { $0.realm == realm && $0.credential == credential }
        return number.map { (spaces[$0], $0) }
    }

    /// Returns the field's value with a space's credentials for a request.
    ///
    /// It increments the nonce count of Digest.
    ///
    /// - Parameters:
    ///   - number: The number of the space, just returned by ``space(of:at:for:)``.
    ///   - origin: The origin.
    ///   - request: The request.
    ///   - clientNonce: A random text.
    /// - Returns: The value; nil if no credentials can be computed for the request.
    package mutating func authorization(
        _ number: Int,
        at origin: HTTPOrigin,
        for request: DigestSession.Request,
        clientNonce: String
    ) -> String? {
        switch known[origin]?[number].authorization {
        case .basic(let value): return value
        case .digest(var session):
            let value = session.authorization(for: request, clientNonce: clientNonce)
            known[origin]?[number].authorization = .digest(session)
            return value
        case nil: return nil
        }
    }

    /// Sets the next nonce of a space, which the server sent with a response.
    package mutating func learn(nextNonce: String, of realm: String, _ credential: Credential, at origin: HTTPOrigin) {
        let place = known[origin]?.firstIndex { $0.realm == realm && $0.credential == credential }
        guard let place, case .digest(var session)? = known[origin]?[place].authorization else { return }
        session.learn(nextNonce: nextNonce)
        known[origin]?[place].authorization = .digest(session)
    }
}

extension ProtectionSpaces: CustomReflectable {
    /// A mirror without children: they are as secret as passwords.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension ProtectionSpaces.Authorization: CustomReflectable, CustomStringConvertible {
    /// The scheme.
    package var description: String { scheme }
    /// A mirror without children: those of Basic contain the password.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A scheme, host and port.
///
/// Credentials belong to one origin and are never sent to another (RFC 9110, 4.3.1).
package struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Whether the scheme is https.
    package let isSecure: Bool
    /// The normalized host: ASCII, lower case, without brackets.
    package let host: String
    /// The port.
    package let port: Int

    /// Creates an origin.
    package init(isSecure: Bool, host: String, port: Int) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// The origin as a URL without a path, such as `https://example.com:8443`.
    package var description: String {
        let name = HostText.host(host)
        let suffix = port == (isSecure ? 443 : 80) ? "" : ":\(port)"
        return "\(isSecure ? "https" : "http")://\(name)\(suffix)"
    }
}
