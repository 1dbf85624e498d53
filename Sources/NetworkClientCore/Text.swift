/// The classes of ASCII characters of which the grammars of HTTP and URLs are made (RFC 5234, B.1).
extension UInt8 {
    /// A decimal digit.
    package var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// A letter, lower case or upper.
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

    /// The value of a hexadecimal digit; nil for what is none.
    package var hexadecimalValue: UInt8? {
        if isASCIIDigit { return self - UInt8(ascii: "0") }
        let letter = self | 0x20
        return UInt8(ascii: "a")...UInt8(ascii: "f") ~= letter ? letter - UInt8(ascii: "a") + 10 : nil
    }
}

extension BidirectionalCollection<UInt8> {
    /// Whether both are the same but for the case of ASCII letters.
    package func isEqualIgnoringCase(_ other: some Collection<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).allSatisfy { $0 == $1 || $0 | 0x20 == $1 | 0x20 && $0.isASCIILetter }
    }

    /// Whether a comma-separated list has an element, whatever its case (RFC 9110, 5.6.1).
    ///
    /// It allocates nothing.
    package func listContains(_ element: some Collection<UInt8>) -> Bool {
        var rest = self[...]
        while !rest.isEmpty {
            let part = rest.prefix { $0 != UInt8(ascii: ",") }
            if part.trimmingBlanks.isEqualIgnoringCase(element) { return true }
            rest = rest[part.endIndex...].dropFirst()
        }
        return false
    }

    /// Without the spaces and tabs at both ends.
    private var trimmingBlanks: SubSequence {
        var trimmed = drop { $0.isBlank }
        while trimmed.last?.isBlank == true { trimmed.removeLast() }
        return trimmed
    }
}

/// Bytes as `%` and two hexadecimal digits (RFC 3986, 2.1).
package enum PercentEncoding {
    /// Adds the three characters that stand for a byte.
    package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digit(byte >> 4))
        bytes.append(digit(byte & 0xF))
    }

    /// Encodes bytes, unless they may stay as they are.
    package static func encoded(_ bytes: some Sequence<UInt8>, except stays: (UInt8) -> Bool) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.underestimatedCount)
        for byte in bytes {
            if stays(byte) { encoded.append(byte) } else { append(byte, to: &encoded) }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The byte that an escape at a position stands for; nil where there is none.
    package static func byte(at position: Int, in bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes.endIndex - position > 2, bytes[position] == UInt8(ascii: "%"),
            let high = bytes[position + 1].hexadecimalValue, let low = bytes[position + 2].hexadecimalValue
        else { return nil }
        return high << 4 | low
    }

    /// Decodes all escapes; what is none stays.
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

/// Hosts and ports as URLs and messages write them: IPv6 addresses in brackets (RFC 3986, 3.2.2).
package enum HostText {
    /// A host, in brackets if it is an IPv6 address.
    package static func host(_ host: some StringProtocol) -> String {
        host.contains(":") ? "[\(host)]" : String(host)
    }

    /// A host and a port.
    package static func hostAndPort(_ host: some StringProtocol, _ port: Int) -> String {
        "\(Self.host(host)):\(port)"
    }

    /// An IPv6 address without its zone, which means something on this machine alone; other hosts as they are.
    package static func withoutZone(_ host: String) -> String {
        host.contains(":") ? String(host.prefix { $0 != "%" }) : host
    }
}
