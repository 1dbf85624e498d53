/// A parsed URL, with the components that a request needs.
///
/// It is absolute, has the scheme `http` or `https`, and follows RFC 3986; characters that a person may type (spaces,
/// other scripts) are encoded as browsers do. The fragment is stored separately, since it is never sent to a server; so
/// is the user information, so that no log contains it.
struct HTTPURL: Sendable, Hashable {
    /// Whether the scheme is `https`.
    let isSecure: Bool
    /// The host: a name in its ASCII form (IDNA) and lower case, or a numeric address without brackets.
    ///
    /// A name keeps its trailing dot, which marks it as fully qualified for the resolver; an IPv6 address keeps its
    /// zone (`fe80::1%eth0`), which selects the interface.
    let host: String
    /// The port: the one that is written, otherwise the scheme's default.
    let port: Int
    /// The value of the `Host` field: without the port if it is the scheme's default, IPv6 in brackets and without its
    /// zone, which is meaningful on this machine only (RFC 6874, 4).
    let authority: String
    /// Path and query as on the request line: never empty, begins with a slash, percent-encoded, without a fragment.
    let target: String
    /// The decoded user name, if the text had one.
    let user: String?
    /// The decoded password, if the text had one.
    let password: String?
    /// The text after `#`, which is never sent to a server; nil if there is none.
    let fragment: String?
    /// The number of bytes of ``target`` up to and including the last slash of its path: relative references are
    /// appended there.
    let directoryLength: Int

    /// Whether the text had user information.
    var hasCredentials: Bool { user != nil }

    /// The scheme's name.
    var scheme: String { isSecure ? "https" : "http" }

    /// Parses an absolute URL.
    ///
    /// - Throws: `invalidURL`; the reason says what is wrong, at which byte, and what to write instead.
    init(_ text: String) throws(HTTPError) {
        let reference = try URLReference(text)
        let isSecure = try reference.scheme()
        guard let isSecure else {
            throw .invalidURL("the URL has no scheme: let it begin with http:// or https://")
        }
        try self.init(reference, isSecure: isSecure)
    }

    /// Makes a URL from a reference that has a host.
    init(_ reference: URLReference, isSecure: Bool) throws(HTTPError) {
        let authority = try URLAuthority(reference, isSecure: isSecure)
        let target = try URLTarget(path: reference.bytes[reference.path], query: reference.queryBytes)
        self.isSecure = isSecure
        host = authority.host
        port = authority.port
        self.authority = authority.header
        user = authority.user
        password = authority.password
        self.target = target.text
        fragment = reference.fragment
        directoryLength = target.directoryLength
    }

    /// Makes a URL with the host of another URL and its own target.
    init(_ base: Self, target: String, directoryLength: Int, fragment: String? = nil) {
        isSecure = base.isSecure
        host = base.host
        port = base.port
        authority = base.authority
        user = base.user
        password = base.password
        self.target = target
        self.fragment = fragment
        self.directoryLength = directoryLength
    }

    /// Returns the URL with another target.
    func with(target: String) -> Self {
        if target == self.target { return self }
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let length = slash.map { path.distance(from: path.startIndex, to: $0) + 1 } ?? 0
        return .init(self, target: target, directoryLength: length, fragment: fragment)
    }

    /// Makes a URL from another URL, with the user information of a third one and its own fragment.
    init(_ other: Self, credentialsOf owner: Self?, fragment: String?) {
        isSecure = other.isSecure
        host = other.host
        port = other.port
        authority = other.authority
        target = other.target
        directoryLength = other.directoryLength
        user = owner?.user
        password = owner?.password
        self.fragment = fragment
    }
}

extension HTTPURL: CustomReflectable {
    /// Has no children: among them are user information and query.
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPURL: CustomStringConvertible {
    /// The URL for logs: without user information and without the query, which may contain secrets too.
    var description: String { "\(scheme)://\(authority)\(path)" }

    /// The path: the target without its query.
    var path: Substring { target.prefix { $0 != "?" } }
}

extension HTTPError {
    /// The error for a text that is not a valid URL.
    static func invalidURL(_ reason: String) -> Self { .init(.invalidURL, processing: .neverSent, reason: reason) }
}

extension HTTPURL {
    /// This URL as the base of a session's requests: a path that does not end with a slash gets one, so that references
    /// are resolved below the whole path and do not replace its last segment.
    var asBase: Self {
        guard path.utf8.last != UInt8(ascii: "/") else { return self }
        let query = target[path.endIndex...]
        return .init(self, target: "\(path)/\(query)", directoryLength: path.utf8.count + 1)
    }

    /// Resolves a reference against this URL (RFC 3986, 5.2): `foo` replaces the last segment of the path, `/foo`
    /// replaces the path, `?a=b` replaces the query, `//host/` replaces the host too, and an absolute URL replaces
    /// everything.
    ///
    /// - Throws: `invalidURL`.
    func resolving(_ reference: String) throws(HTTPError) -> HTTPURL {
        if let target = joined(reference) { return target }
        return try resolvingByTheBook(reference)
    }

    /// The fast path for common references: if all bytes of the reference stand for themselves, it is appended to the
    /// base's directory, or replaces the target if it begins with a slash.
    ///
    /// Allocates one string. Returns nil for a reference that needs more than concatenation: an empty one, one that
    /// begins with `?` or `//`, and one with a colon, a segment that begins with a dot, an escape or a fragment.
    func joined(_ reference: String) -> HTTPURL? {
        let result = reference.utf8.withContiguousStorageIfAvailable { bytes -> HTTPURL? in
            guard let end = Self.directoryEnd(of: bytes) else { return nil }
            let kept = bytes[0] == UInt8(ascii: "/") ? 0 : directoryLength
            let joined = String(unsafeUninitializedCapacity: kept + bytes.count) { buffer in
                _ = buffer.initialize(fromContentsOf: target.utf8.prefix(kept))
                _ = buffer[kept...].initialize(fromContentsOf: bytes)
                return kept + bytes.count
            }
            return .init(self, target: joined, directoryLength: kept + end)
        }
        return result ?? nil
    }

    /// Returns the end of the directory of a common reference; nil for all other references.
    private static func directoryEnd(of bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let slash = UInt8(ascii: "/")
        guard let first = bytes.first, first != UInt8(ascii: "?") else { return nil }
        guard !(first == slash && bytes.count > 1 && bytes[1] == slash) else { return nil }
        var directoryEnd = 0
        var isPath = true
        var isSegmentStart = true
        for (index, byte) in bytes.enumerated() {
            guard URLBytes.isTargetByte(byte), byte != UInt8(ascii: ":") else { return nil }
            guard isPath else { continue }
            if byte == UInt8(ascii: "."), isSegmentStart { return nil }
            isSegmentStart = byte == slash
            isPath = byte != UInt8(ascii: "?")
            if isSegmentStart { directoryEnd = index + 1 }
        }
        return directoryEnd
    }

    /// The general algorithm, for all references.
    func resolvingByTheBook(_ text: String) throws(HTTPError) -> HTTPURL {
        let reference = try URLReference(text)
        let scheme = try reference.scheme()
        if scheme != nil || reference.authority != nil {
            return try .init(reference, isSecure: scheme ?? isSecure)
        }
        let target = try resolvedTarget(reference)
        let fragment = reference.fragment
        return .init(self, target: target.text, directoryLength: target.directoryLength, fragment: fragment)
    }

    private func resolvedTarget(_ reference: URLReference) throws(HTTPError) -> URLTarget {
        let path = reference.bytes[reference.path]
        if path.first == UInt8(ascii: "/") { return try .init(path: path, query: reference.queryBytes) }
        let base = Array(target.utf8)
        guard path.isEmpty else {
            let merged = try base[..<directoryLength] + URLBytes.encoded(path, what: "path")
            return try .init(encodedPath: Array(merged), query: reference.queryBytes)
        }
        let length = self.path.utf8.count
        let ownQuery = length < base.count ? base[(length + 1)...] : nil
        return try .init(encodedPath: Array(base[..<length]), query: reference.queryBytes ?? ownQuery)
    }
}

/// Path and query as they appear on the request line.
struct URLTarget {
    /// The path, encoded and without dot segments, and the query.
    let text: String
    /// The number of bytes of the path up to and including its last slash.
    let directoryLength: Int

    /// Encodes path and query.
    ///
    /// - Throws: `invalidURL` for a `%` without its two digits.
    init(path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?) throws(HTTPError) {
        try self.init(encodedPath: URLBytes.encoded(path, what: "path"), query: query)
    }

    /// Makes a target from a path that is already encoded.
    init(encodedPath: [UInt8], query: ArraySlice<UInt8>?) throws(HTTPError) {
        var bytes = Self.withoutDotSegments(encodedPath)
        directoryLength = (bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0) + 1
        if let query {
            bytes.append(UInt8(ascii: "?"))
            bytes += try URLBytes.encoded(query, what: "query")
        }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Removes `.` and `..` segments (RFC 3986, 5.2.4); the result begins with a slash.
    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let segments = (path.first == slash ? path.dropFirst() : path[...]).split(
            separator: slash,
            omittingEmptySubsequences: false
        )
        var kept: [ArraySlice<UInt8>] = []
        for segment in segments {
            let isParent = segment.elementsEqual("..".utf8)
            guard isParent || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isParent, !kept.isEmpty { kept.removeLast() }
            if segment.endIndex == path.endIndex { kept.append([]) }
        }
        return [slash] + kept.joined(separator: [slash])
    }
}
