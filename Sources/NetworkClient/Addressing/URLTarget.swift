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
