import NetworkClientCore

/// The components of a URL or a relative reference, split as in RFC 3986, appendix B.
///
/// Nothing is validated except for characters that are allowed nowhere.
struct URLReference {
    /// The text without its fragment.
    let bytes: [UInt8]
    /// The position of the scheme's colon, if there is a scheme.
    private let schemeEnd: Int?
    /// User information, host and port, if the reference has `//`.
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
        if let position = whole.firstIndex(where: { $0.isASCIIControl }) {
            let escape = PercentEncoding.encoded([whole[position]]) { _ in false }
            throw .invalidURL(
                "the URL has a control character (0x\(escape.dropFirst())) at byte \(position): remove it, or write \(escape)"
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

    /// Whether the scheme is https, or wss, which names the same origin (RFC 6455, 3); nil if there is no scheme.
    ///
    /// - Throws: `invalidURL` for other schemes.
    func scheme() throws(HTTPError) -> Bool? {
        guard let schemeEnd else { return nil }
        switch String(decoding: bytes[..<schemeEnd], as: UTF8.self).lowercased() {
        case "http", "ws": return false
        case "https", "wss": return true
        case let other:
            throw .invalidURL(
                """
                '\(other):' is no scheme that can be asked: let the URL begin with http:// or https:// \
                (a path with a colon begins with ./)
                """
            )
        }
    }

    /// Returns the position of the scheme's colon: after a letter, followed by letters, digits, `+`, `-`, `.` (RFC
    /// 3986, 3.1).
    private static func schemeEnd(in bytes: [UInt8]) -> Int? {
        guard let end = bytes.firstIndex(where: { !URLBytes.isSchemeByte($0) }), end > 0 else { return nil }
        return bytes[end] == UInt8(ascii: ":") && bytes[0].isASCIILetter ? end : nil
    }
}

/// User information, host and port of a URL.
struct URLAuthority {
    let user: String?
    let password: String?
    let host: String
    let port: Int
    /// The value of the `Host` header.
    let header: String

    /// Parses the authority of an absolute reference, or of one that only lacks the scheme.
    ///
    /// - Throws: `invalidURL`. No reason contains any part of the user information.
    init(_ reference: URLReference, isSecure: Bool) throws(HTTPError) {
        guard let range = reference.authority else {
            throw .invalidURL(
                "the URL names no host: two slashes and a host follow the scheme, as in http://example.com/"
            )
        }
        var rest = reference.bytes[range]
        guard !rest.contains(UInt8(ascii: "\\")) else {
            throw .invalidURL(
                "the URL has a backslash before its path, where some programs see the host's end: write /, or %5C in a password"
            )
        }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            (user, password) = try Self.credentials(rest[..<at])
            rest = rest[(at + 1)...]
        } else {
            (user, password) = (nil, nil)
        }
        let (hostBytes, portBytes) = try Self.split(rest)
        host = try HostName.ascii(hostBytes)
        let usual = isSecure ? 443 : 80
        port = try Self.port(portBytes) ?? usual
        header = Self.header(host: host, port: port == usual ? nil : port)
    }

    /// The value of the `Host` header for a host and a port that is not the scheme's own.
    private static func header(host: String, port: Int?) -> String {
        let name = HostText.host(HostText.withoutZone(host))
        return port.map { "\(name):\($0)" } ?? name
    }

    private static func credentials(_ bytes: ArraySlice<UInt8>) throws(HTTPError) -> (String, String?) {
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw .invalidURL(
                "the URL has more than one @ before its host: write %40 for an @ in a user name or password"
            )
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            return (try URLBytes.decoded(bytes, what: "user name"), nil)
        }
        let user = try URLBytes.decoded(bytes[..<colon], what: "user name")
        return (user, try URLBytes.decoded(bytes[(colon + 1)...], what: "password"))
    }

    /// Splits the authority into the host (with its brackets, if it has them) and the digits of the port.
    private static func split(_ bytes: ArraySlice<UInt8>) throws(HTTPError) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        let colon = UInt8(ascii: ":")
        guard bytes.first == UInt8(ascii: "[") else {
            let parts = bytes.split(separator: colon, omittingEmptySubsequences: false)
            guard parts.count < 3 else {
                throw .invalidURL(
                    "the URL's host has more than one colon: put an IPv6 address in brackets, as in http://[::1]:8080/"
                )
            }
            return (parts[0], parts.count > 1 ? parts[1] : nil)
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
            throw .invalidURL("the bracket before the URL's IPv6 address is not closed: write ] after the address")
        }
        let rest = bytes[(end + 1)...]
        guard rest.isEmpty || rest.first == colon else {
            throw .invalidURL("something follows the brackets of the URL's IPv6 address: only a colon and a port may")
        }
        return (bytes[...end], rest.isEmpty ? nil : rest.dropFirst())
    }

    /// The port, or nil if none is written.
    private static func port(_ digits: ArraySlice<UInt8>?) throws(HTTPError) -> Int? {
        guard let digits, !digits.isEmpty else { return nil }
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.allSatisfy(\.isASCIIDigit), let port = Int(text), 1...65_535 ~= port else {
            throw .invalidURL("the URL's port '\(text)' is none: it is a number from 1 to 65535")
        }
        return port
    }
}
