/// A URL as a request needs it: parsed once.
///
/// Absolute, `http` or `https`, by RFC 3986; what a person types (spaces, other scripts) is encoded as browsers do. The
/// fragment is kept apart, since it never goes to a server; so is user information, so that no log shows it.
struct HTTPURL: Sendable, Hashable {
    /// Whether the scheme is `https`.
    let isSecure: Bool
    /// The host: a name in its ASCII form (IDNA) and lower case, or a numeric address without brackets.
    ///
    /// A name keeps its trailing dot, which tells the resolver that it is complete; an IPv6 address keeps its zone
    /// (`fe80::1%eth0`), which tells the kernel the interface.
    let host: String
    /// The port: what is written, else the scheme's own.
    let port: Int
    /// For the `Host` header: the port left out if it is the scheme's own, IPv6 in brackets and without its zone, which
    /// means something on this machine alone (RFC 6874, 4).
    let authority: String
    /// Path and query as on the request line: never empty, begins with a slash, percent-encoded, no fragment.
    let target: String
    /// The decoded user name, if the text had one.
    let user: String?
    /// The decoded password, if the text had one.
    let password: String?
    /// What follows `#`, which never goes to a server; nil if there is none.
    let fragment: String?
    /// How many bytes of ``target`` are its path up to and with the last slash: what relative references follow.
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

    /// Makes a URL of a reference that names a host.
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

    /// Makes a URL of another's host and a target of its own.
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

    /// Makes a URL of another, with user information and fragment of its own.
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
    /// The URL for logs: without user information and without the query, which may hold what is secret too.
    var description: String { "\(scheme)://\(authority)\(path)" }

    /// The path: the target without its query.
    var path: Substring { target.prefix { $0 != "?" } }
}

extension HTTPError {
    /// An error for a text that is no URL.
    static func invalidURL(_ reason: String) -> Self { .init(.invalidURL, .neverSent, reason) }
}

extension HTTPURL {
    /// This URL as the base of a session's requests: if it has a path, that ends with a slash, so that what is resolved
    /// against it comes below the whole path and not beside its last part.
    var asBase: Self {
        guard path.utf8.last != UInt8(ascii: "/") else { return self }
        let query = target[path.endIndex...]
        return .init(self, target: "\(path)/\(query)", directoryLength: path.utf8.count + 1)
    }

    /// Resolves a reference against this URL (RFC 3986, 5.2): `foo` lies beside or below, `/foo` starts from the root,
    /// `?a=b` changes the query, `//host/` the host too, and an absolute URL replaces all.
    ///
    /// - Throws: `invalidURL`.
    func resolving(_ reference: String) throws(HTTPError) -> HTTPURL {
        if let target = joined(reference) { return target }
        return try resolvingByTheBook(reference)
    }

    /// The way of the ordinary case: a reference whose bytes all stand for themselves comes after the base's directory,
    /// or in the target's place if it begins with a slash.
    ///
    /// Makes one string. Whatever would take more than joining (an empty reference, one that begins with `?`, `//`,
    /// colons, segments that begin with a dot, escapes, fragments) is nil here.
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

    /// Where the directory of an ordinary reference ends; nil for all others.
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

    /// The way of all cases.
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

/// Path and query, as they go on the request line.
struct URLTarget {
    /// The path, encoded and without dot segments, and the query.
    let text: String
    /// How many bytes the path has up to and with its last slash.
    let directoryLength: Int

    /// Encodes path and query.
    ///
    /// - Throws: `invalidURL` for a `%` without its two digits.
    init(path: ArraySlice<UInt8>, query: ArraySlice<UInt8>?) throws(HTTPError) {
        try self.init(encodedPath: URLBytes.encoded(path, what: "path"), query: query)
    }

    /// Takes a path that is encoded already.
    init(encodedPath: [UInt8], query: ArraySlice<UInt8>?) throws(HTTPError) {
        var bytes = Self.withoutDotSegments(encodedPath)
        directoryLength = (bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0) + 1
        if let query {
            bytes.append(UInt8(ascii: "?"))
            bytes += try URLBytes.encoded(query, what: "query")
        }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Removes `.` and `..`, as RFC 3986, 5.2.4 does; the path begins with a slash then.
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
