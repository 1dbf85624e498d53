import NetworkClientCore

/// RFC 3986's character classes, and percent-encoding.
enum URLBytes {
    static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "+-.".utf8.contains(byte)
    }

    /// Whether a byte stands for itself in a path or a query: `pchar`, `/` and `?` (RFC 3986, 3.3 and 3.4), without `%`.
    static func isTargetByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "@")...UInt8(ascii: "Z"): true  // @ comes before A
        case UInt8(ascii: "&")...UInt8(ascii: ";"): true  // & ' ( ) * + , - . / and the digits : ;
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "?"): true
        case UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// Percent-encodes all bytes that may not stand for themselves; existing escapes are kept.
    ///
    /// - Throws: `invalidURL` for a `%` without its two digits.
    static func encoded(_ bytes: ArraySlice<UInt8>, what: String) throws(HTTPError) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for (index, byte) in zip(bytes.indices, bytes) {
            if byte == UInt8(ascii: "%") {
                _ = try escaped(at: index, in: bytes, what: what)
                encoded.append(byte)
            } else if isTargetByte(byte) {
                encoded.append(byte)
            } else {
                PercentEncoding.append(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Decodes all percent-escapes.
    ///
    /// - Throws: `invalidURL` for a `%` without its two digits, and for bytes that are not UTF-8 once decoded.
    static func decoded(_ bytes: ArraySlice<UInt8>, what: String) throws(HTTPError) -> String {
        var decoded: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%") {
                decoded.append(try escaped(at: index, in: bytes, what: what))
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        guard let text = String(validating: decoded, as: UTF8.self) else {
            throw .invalidURL("the URL's \(what) is no UTF-8: write its characters as percent-encoded UTF-8")
        }
        return text
    }

    /// The byte that an escape stands for.
    private static func escaped(at index: Int, in bytes: ArraySlice<UInt8>, what: String) throws(HTTPError) -> UInt8 {
        guard let byte = PercentEncoding.byte(at: index, in: bytes) else {
            throw .invalidURL(
                "the URL's \(what) has a % without two hexadecimal digits at byte \(index): write %25 for %"
            )
        }
        return byte
    }
}
