/// ASCII character classes of the grammars of HTTP and URLs (RFC 5234, B.1).
extension UInt8 {
    /// A decimal digit.
    package var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// A letter in lower or upper case.
    package var isASCIILetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    /// An upper-case letter.
    package var isASCIIUppercase: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

    /// A letter or a digit.
    package var isASCIIAlphanumeric: Bool { isASCIILetter || isASCIIDigit }

    /// A space or a tab.
    package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// A control character.
    package var isASCIIControl: Bool { self < 0x20 || self == 0x7F }

    /// A character of a token, such as a field's name (RFC 9110, 5.6.2).
    package var isTokenCharacter: Bool {
        if isASCIIAlphanumeric { return true }
        return switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
            UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The value of a hexadecimal digit; nil for any other byte.
    package var hexadecimalValue: UInt8? {
        if isASCIIDigit { return self - UInt8(ascii: "0") }
        let letter = self | 0x20
        return UInt8(ascii: "a")...UInt8(ascii: "f") ~= letter ? letter - UInt8(ascii: "a") + 10 : nil
    }
}

/// Comparisons of names in messages, each made for every field of every response: they are not generic, since code of
/// another module can't be specialized, and they do not allocate memory.
extension String.UTF8View {
    /// Returns whether both are equal, ignoring the case of ASCII letters.
    package func isEqualIgnoringCase(_ other: Self) -> Bool {
        let bytes = span
        return bytes.isEqualIgnoringCase(other.span, in: 0..<bytes.count)
    }

    /// Returns whether a comma-separated list has an element, ignoring case (RFC 9110, 5.6.1).
    package func listContains(_ element: Self) -> Bool {
        let (bytes, element) = (span, element.span)
        var start = 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: ",") { end += 1 }
            if bytes.isEqualIgnoringCase(element, in: bytes.withoutBlanks(start..<end)) { return true }
            start = end + 1
        }
        return false
    }
}

extension Span<UInt8> {
    /// Returns whether the bytes of a range are equal to others, ignoring the case of ASCII letters.
    fileprivate func isEqualIgnoringCase(_ other: borrowing Self, in range: Range<Int>) -> Bool {
        guard range.count == other.count else { return false }
        for (index, position) in range.enumerated() {
            let (byte, expected) = (self[position], other[index])
            guard byte == expected || byte | 0x20 == expected | 0x20 && byte.isASCIILetter else { return false }
        }
        return true
    }

    /// Returns a range without the spaces and tabs at its ends.
    fileprivate func withoutBlanks(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while start < end, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }
}

/// Percent-encoding (RFC 3986, 2.1).
package enum PercentEncoding {
    /// Appends the escape of a byte.
    package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digit(byte >> 4))
        bytes.append(digit(byte & 0xF))
    }

    /// Encodes all bytes except those that a predicate exempts.
    package static func encoded(_ bytes: some Sequence<UInt8>, except stays: (UInt8) -> Bool) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.underestimatedCount)
        for byte in bytes {
            if stays(byte) { encoded.append(byte) } else { append(byte, to: &encoded) }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns the byte of the escape at a position; nil if there is none.
    package static func byte(at position: Int, in bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes.endIndex - position > 2, bytes[position] == UInt8(ascii: "%"),
            let high = bytes[position + 1].hexadecimalValue, let low = bytes[position + 2].hexadecimalValue
        else { return nil }
        return high << 4 | low
    }

    /// Decodes all valid escapes and keeps everything else.
    package static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let escaped = byte(at: position, in: bytes)
            decoded.append(escaped ?? bytes[position])
            position += escaped == nil ? 1 : 3
        }
        return decoded
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

/// Hosts and ports as in URLs and messages, with IPv6 addresses in brackets (RFC 3986, 3.2.2).
package enum HostText {
    /// Returns a host, in brackets if it is an IPv6 address.
    package static func host(_ host: some StringProtocol) -> String {
        host.contains(":") ? "[\(host)]" : String(host)
    }

    /// Returns a host and a port.
    package static func hostAndPort(_ host: some StringProtocol, _ port: Int) -> String {
        "\(Self.host(host)):\(port)"
    }

    /// Returns an IPv6 address without its zone, which is valid only on this machine; any other host unchanged.
    package static func withoutZone(_ host: String) -> String {
        host.contains(":") ? String(host.prefix { $0 != "%" }) : host
    }
}
