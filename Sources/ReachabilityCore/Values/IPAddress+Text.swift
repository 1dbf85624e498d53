extension IPAddress: LosslessStringConvertible {
    /// Reads an address as inet_pton(3) does: dotted decimal without leading zeros, or RFC 4291's colons.
    ///
    /// nil for anything else: octal, hexadecimal or shortened IPv4, a zone (`%eth0`), a prefix length, white space.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        if let value = IPv4Text.parse(bytes[...]) {
            self.init(ipv4: value)
        } else if let bits = IPv6Text.parse(bytes) {
            self.init(family: .ipv6, bits: bits)
        } else {
            return nil
        }
    }
}

extension IPPrefix: CustomStringConvertible {
    /// The prefix in CIDR notation: `192.0.2.0/24`.
    public var description: String { "\(address)/\(length)" }
}

/// Dotted decimal.
enum IPv4Text {
    /// The host-order value, or nil.
    static func parse(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var value: UInt32 = 0
        for part in parts {
            guard let octet = octet(part) else { return nil }
            value = value << 8 | UInt32(octet)
        }
        return value
    }

    /// One to three digits; a leading zero would mean octal to some, so it is refused.
    private static func octet(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0") else { return nil }
        var value: UInt8 = 0
        for digit in digits {
            guard let number = Hexadecimal.value(of: digit), number < 10 else { return nil }
            let (tens, hasOverflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(number)
            guard !hasOverflowed, !isTooLarge else { return nil }
            value = sum
        }
        return value
    }
}

/// RFC 4291's text form, section 2.2, and RFC 5952's choice among its variants.
enum IPv6Text {
    /// The address's bits, or nil.
    static func parse(_ bytes: [UInt8]) -> UInt128? {
        let colon = UInt8(ascii: ":")
        guard let gap = bytes.indices.dropLast().first(where: { bytes[$0] == colon && bytes[$0 + 1] == colon }) else {
            guard let words = words(bytes[...], allowsIPv4: true), words.count == 8 else { return nil }
            return bits(words)
        }
        // '::' stands for one word of zeros at least.
        guard let left = words(bytes[..<gap], allowsIPv4: false),
            let right = words(bytes[(gap + 2)...], allowsIPv4: true), left.count + right.count < 8
        else { return nil }
        return bits(left + Array(repeating: 0, count: 8 - left.count - right.count) + right)
    }

    private static func bits(_ words: [UInt16]) -> UInt128 {
        words.reduce(0) { $0 << 16 | UInt128($1) }
    }

    /// The words between colons; the last two may be written as an IPv4 address.
    private static func words(_ bytes: ArraySlice<UInt8>, allowsIPv4: Bool) -> [UInt16]? {
        guard !bytes.isEmpty else { return [] }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var words: [UInt16] = []
        for (position, part) in parts.enumerated() {
            if let word = word(part) {
                words.append(word)
            } else if allowsIPv4, position == parts.count - 1, let value = IPv4Text.parse(part) {
                words += [UInt16(value >> 16), UInt16(truncatingIfNeeded: value)]
            } else {
                return nil
            }
        }
        return words
    }

    /// One to four hexadecimal digits.
    private static func word(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard 1...4 ~= digits.count else { return nil }
        var word: UInt16 = 0
        for digit in digits {
            guard let number = Hexadecimal.value(of: digit) else { return nil }
            word = word << 4 | UInt16(number)
        }
        return word
    }
}

/// Hexadecimal digits.
private enum Hexadecimal {
    /// The value of a digit in either case, or nil.
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
