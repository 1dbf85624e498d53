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
