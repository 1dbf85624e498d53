/// The parts of a URL, or of a reference to one, as RFC 3986's appendix B tells them apart; nothing is judged but the
/// characters that are allowed nowhere.
struct URLReference {
    /// The text without its fragment.
    let bytes: [UInt8]
    /// Where the scheme ends, if there is one.
    private let schemeEnd: Int?
    /// User information, host and port, if `//` announces them.
    let authority: Range<Int>?
    /// The path, which may be empty.
    let path: Range<Int>
    /// The query, without its question mark; nil is not the same as empty.
    let query: Range<Int>?
    /// The fragment, without its `#`; nil is not the same as empty.
    let fragment: String?

    /// Splits a text.
    ///
    /// - Throws: `invalidURL` for control characters.
    init(_ text: String) throws(HTTPError) {
        let whole = Array(text.utf8)
        if let position = whole.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
            let byte = String(whole[position], radix: 16, uppercase: true)
            let digits = byte.count < 2 ? "0" + byte : byte
            throw .invalidURL(
                "the URL has a control character (0x\(digits)) at byte \(position): remove it, or write %\(digits)"
            )
        }
        let bytes = Array(whole.prefix { $0 != UInt8(ascii: "#") })
        self.bytes = bytes
        fragment = bytes.count < whole.count ? String(decoding: whole[(bytes.count + 1)...], as: UTF8.self) : nil
        schemeEnd = Self.schemeEnd(in: bytes)
        var position = schemeEnd.map { $0 + 1 } ?? 0
        if bytes[position...].starts(with: "//".utf8) {
            let start = position + 2
            position = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.count
            authority = start..<position
        } else {
            authority = nil
        }
        let mark = bytes[position...].firstIndex(of: UInt8(ascii: "?"))
        path = position..<(mark ?? bytes.count)
        query = mark.map { $0 + 1..<bytes.count }
    }

    /// The query's bytes.
    var queryBytes: ArraySlice<UInt8>? { query.map { bytes[$0] } }

    /// Whether the scheme is https; nil if there is no scheme.
    ///
    /// - Throws: `invalidURL` for other schemes.
    func scheme() throws(HTTPError) -> Bool? {
        guard let schemeEnd else { return nil }
        switch String(decoding: bytes[..<schemeEnd], as: UTF8.self).lowercased() {
        case "http": return false
        case "https": return true
        case let other:
            throw .invalidURL(
                """
                '\(other):' is no scheme that can be asked: let the URL begin with http:// or https:// \
                (a path with a colon begins with ./)
                """
            )
        }
    }

    /// Where the scheme's colon is: after a letter and letters, digits, `+`, `-`, `.` (RFC 3986, 3.1).
    private static func schemeEnd(in bytes: [UInt8]) -> Int? {
        guard let end = bytes.firstIndex(where: { !URLBytes.isSchemeByte($0) }), end > 0 else { return nil }
        return bytes[end] == UInt8(ascii: ":") && URLBytes.isLetter(bytes[0]) ? end : nil
    }
}
