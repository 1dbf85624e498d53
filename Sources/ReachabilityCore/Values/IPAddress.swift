/// An address family, IPv4 or IPv6, with the kernel's number (`socket(2)`).
public enum AddressFamily: UInt8, Sendable, Hashable, CaseIterable {
    /// `AF_INET`.
    case ipv4 = 2
    /// `AF_INET6`.
    case ipv6 = 10

    /// The number of bits in an address of this family.
    public var bitWidth: Int { self == .ipv4 ? 32 : 128 }
}

/// An IPv4 or IPv6 address.
///
/// Addresses of both families are left-aligned in 128 bits, so prefix arithmetic is one shift and one comparison for
/// either.
public struct IPAddress: Sendable, Hashable {
    /// The address family.
    public let family: AddressFamily
    /// The address, most significant bit first; IPv4 fills the upper 32 bits, the rest is zero.
    public let bits: UInt128

    /// Creates an address from left-aligned bits.
    public init(family: AddressFamily, bits: UInt128) {
        self.family = family
        self.bits = bits
    }

    /// Creates an IPv4 address from its host-order value (`0xC0000201` is 192.0.2.1).
    public init(ipv4 value: UInt32) { self.init(family: .ipv4, bits: UInt128(value) << 96) }

    /// The host-order value of an IPv4 address, or the first 32 bits of an IPv6 address.
    public var ipv4Value: UInt32 { UInt32(truncatingIfNeeded: bits >> 96) }

    /// Whether this is 0.0.0.0 or ::, which mean no address.
    public var isUnspecified: Bool { bits == 0 }

    /// Whether the address is in 127.0.0.0/8 (RFC 1122, 3.2.1.3) or is ::1 (RFC 4291, 2.5.3).
    public var isLoopback: Bool { family == .ipv4 ? bits >> 120 == 127 : bits == 1 }

    /// Whether the address is in 224.0.0.0/4 (RFC 5771) or ff00::/8 (RFC 4291, 2.7).
    public var isMulticast: Bool { family == .ipv4 ? bits >> 124 == 0xE : bits >> 120 == 0xFF }

    /// Whether the address is in 169.254.0.0/16 (RFC 3927) or fe80::/10 (RFC 4291, 2.5.6).
    public var isLinkLocal: Bool { family == .ipv4 ? bits >> 112 == 0xA9FE : bits >> 118 == 0x3FA }
}

// MARK: - Source selection

/// The properties of IPv6 addresses that source selection compares (RFC 6724).
extension IPAddress {
    /// The scope as in `__ipv6_addr_src_scope`: 2 link-local, 5 site-local, 14 global.
    ///
    /// The loopback address counts as link-local (RFC 6724, 3.4).
    var ipv6Scope: UInt8 {
        if bits == 1 { return 2 }
        switch bits >> 118 {
        case 0x3FA: return 2
        case 0x3FB: return 5
        default: return 14
        }
    }

    /// Whether the address is preferred whatever its flags: loopback, IPv4-mapped and IPv4-compatible addresses.
    var isAlwaysPreferred: Bool { bits >> 32 == 0 || isIPv4Mapped }

    /// Whether the address is in ::ffff:0:0/96.
    package var isIPv4Mapped: Bool { bits >> 32 == 0xFFFF }

    /// Whether the address is in 2001:10::/28 (RFC 4843).
    var isORCHID: Bool { bits >> 100 == 0x200_1001 }

    /// The label of the default policy table (RFC 6724, 2.1, as `net/ipv6/addrlabel.c` has it).
    ///
    /// Changes made with ip-addrlabel(8) are not read.
    var policyLabel: UInt8 {
        let first = UInt16(truncatingIfNeeded: bits >> 112)
        switch first {
        case 0: return lowLabel
        case 0x2001: return teredoOrORCHIDLabel
        case 0x2002: return 2
        case 0x3FFE: return 12
        case 0xFC00...0xFDFF: return 5
        case 0xFEC0...0xFEFF: return 11
        default: return 1
        }
    }

    /// ::1, ::ffff:0:0/96 and ::/96.
    private var lowLabel: UInt8 {
        if bits == 1 { return 0 }
        switch bits >> 32 {
        case 0: return 3
        case 0xFFFF: return 4
        default: return 1
        }
    }

    /// 2001::/32 and 2001:10::/28.
    private var teredoOrORCHIDLabel: UInt8 {
        if bits >> 96 == 0x2001_0000 { return 6 }
        return isORCHID ? 7 : 1
    }
}

// MARK: - Text

extension IPAddress: LosslessStringConvertible {
    /// Parses an address as inet_pton(3) does: dotted decimal without leading zeros, or RFC 4291's text form.
    ///
    /// Returns nil for anything else: octal, hexadecimal or shortened IPv4, a zone (`%eth0`), a prefix length, white space.
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

    /// The text as inet_ntop(3) formats it: dotted decimal, or RFC 5952's shortest form in lowercase.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.maximumTextLength) { memory in
            var text = OutputSpan(buffer: memory, initializedCount: 0)
            write(to: &text)
            return text.finalize(for: memory)
        }
    }

    /// Writes the bytes of ``description``, at most ``maximumTextLength``, without allocating memory.
    package func write(to text: inout OutputSpan<UInt8>) {
        switch family {
        case .ipv4: IPv4Text.write(ipv4Value, to: &text)
        case .ipv6: IPv6Text.write(bits, to: &text)
        }
    }

    /// Returns whether the host of a URL is this machine: `localhost`, or a loopback address.
    ///
    /// - Parameter authority: The host, in brackets if it is an IPv6 address, and the port if there is one (RFC 3986, 3.2).
    /// - Returns: Whether it is; false for a host that only begins with such an address, as in `127.example.com`.
    package static func isLoopback(authority: Substring) -> Bool {
        let isBracketed = authority.first == "["
        let host = authority.dropFirst(isBracketed ? 1 : 0).prefix { $0 != (isBracketed ? "]" : ":") }
        return host.lowercased() == "localhost" || Self(String(host))?.isLoopback == true
    }

    /// The maximum length of an address's text in bytes: eight words of four digits, and seven colons.
    package static var maximumTextLength: Int { 39 }
}

/// The text form of IPv4 addresses: dotted decimal.
private enum IPv4Text {
    /// Returns the host-order value, or nil if the text is invalid.
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

    /// Parses one to three digits; a leading zero is refused, because some programs read it as octal.
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

    /// Writes the text of a host-order value.
    static func write(_ value: UInt32, to text: inout OutputSpan<UInt8>) {
        write(octet: value >> 24, to: &text)
        text.append(UInt8(ascii: "."))
        write(octet: value >> 16, to: &text)
        text.append(UInt8(ascii: "."))
        write(octet: value >> 8, to: &text)
        text.append(UInt8(ascii: "."))
        write(octet: value, to: &text)
    }

    /// Writes the lowest eight bits.
    @inline(__always)
    private static func write(octet: UInt32, to text: inout OutputSpan<UInt8>) {
        let octet = UInt8(truncatingIfNeeded: octet)
        if octet >= 100 { text.append(UInt8(ascii: "0") + octet / 100) }
        if octet >= 10 { text.append(UInt8(ascii: "0") + octet / 10 % 10) }
        text.append(UInt8(ascii: "0") + octet % 10)
    }
}

/// The text form of IPv6 addresses (RFC 4291, section 2.2), in RFC 5952's canonical variant.
private enum IPv6Text {
    /// Returns the address's bits, or nil if the text is invalid.
    static func parse(_ bytes: [UInt8]) -> UInt128? {
        let colon = UInt8(ascii: ":")
        guard let gap = bytes.indices.dropLast().first(where: { bytes[$0] == colon && bytes[$0 + 1] == colon }) else {
            guard let words = words(bytes[...], allowsIPv4: true), words.count == 8 else { return nil }
            return bits(words)
        }
        // '::' stands for at least one word of zeros.
        guard let left = words(bytes[..<gap], allowsIPv4: false),
            let right = words(bytes[(gap + 2)...], allowsIPv4: true), left.count + right.count < 8
        else { return nil }
        return bits(left + Array(repeating: 0, count: 8 - left.count - right.count) + right)
    }

    private static func bits(_ words: [UInt16]) -> UInt128 { words.reduce(0) { $0 << 16 | UInt128($1) } }

    /// Parses the words between colons; the last two may be written as an IPv4 address.
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

    /// Parses one to four hexadecimal digits.
    private static func word(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard 1...4 ~= digits.count else { return nil }
        var word: UInt16 = 0
        for digit in digits {
            guard let number = Hexadecimal.value(of: digit) else { return nil }
            word = word << 4 | UInt16(number)
        }
        return word
    }

    /// Writes the text of an address's bits.
    static func write(_ bits: UInt128, to text: inout OutputSpan<UInt8>) {
        let words = InlineArray<8, UInt16> { UInt16(truncatingIfNeeded: bits &>> UInt128(112 - 16 * $0)) }
        let gap = longestZeros(words)
        write(words, 0..<gap.lowerBound, to: &text)
        if !gap.isEmpty {
            separate(&text)
            separate(&text)
        }
        // IPv4-mapped (::ffff:0:0/96) and IPv4-compatible (::/96) addresses end in dotted decimal.
        if gap == 0..<6 || gap == 0..<5 && words[5] == 0xFFFF {
            write(words, gap.upperBound..<6, to: &text)
            if gap.upperBound == 5 { separate(&text) }
            IPv4Text.write(UInt32(truncatingIfNeeded: bits), to: &text)
        } else {
            write(words, gap.upperBound..<8, to: &text)
        }
    }

    private static func write(_ words: InlineArray<8, UInt16>, _ range: Range<Int>, to text: inout OutputSpan<UInt8>) {
        for position in range {
            if position > range.lowerBound { separate(&text) }
            write(words[position], to: &text)
        }
    }

    private static func separate(_ text: inout OutputSpan<UInt8>) { text.append(UInt8(ascii: ":")) }

    /// Returns the first of the longest runs of zeros, or an empty range; a single zero is no run (RFC 5952, 4.2).
    private static func longestZeros(_ words: InlineArray<8, UInt16>) -> Range<Int> {
        var longest = 0..<1
        var start = 0
        for position in 0...8 where position == 8 || words[position] != 0 {
            if position - start > longest.count { longest = start..<position }
            start = position + 1
        }
        return longest.count > 1 ? longest : 0..<0
    }

    /// Writes a number in lowercase hexadecimal digits, without leading zeros.
    private static func write(_ word: UInt16, to text: inout OutputSpan<UInt8>) {
        var shift = word < 0x10 ? 0 : word < 0x100 ? 4 : word < 0x1000 ? 8 : 12
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: word &>> UInt16(shift) & 15)
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
    }
}

/// Hexadecimal digits.
private enum Hexadecimal {
    /// Returns the value of a digit in either case, or nil.
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// An address prefix in CIDR notation (RFC 4632, RFC 4291 section 2.3).
public struct IPPrefix: Sendable, Hashable {
    /// The prefix's first address.
    public let address: IPAddress
    /// The number of leading bits that count, 0 to 32 or 0 to 128.
    public let length: UInt8

    /// Creates a prefix; ``contains(_:)`` ignores the bits of the address after its length.
    public init(_ address: IPAddress, length: UInt8) {
        self.address = address
        self.length = length
    }

    /// Returns the prefix of length 0, which covers a whole family.
    public static func all(_ family: AddressFamily) -> Self {
        .init(.init(family: family, bits: 0), length: 0)
    }

    /// Returns whether an address is of this family and in this prefix.
    public func contains(_ other: IPAddress) -> Bool {
        guard other.family == address.family else { return false }
        return length == 0 || (other.bits ^ address.bits) >> (128 - UInt128(length)) == 0
    }

    /// Whether the prefix covers all addresses of its family.
    var isAny: Bool { length == 0 && address.isUnspecified }

    /// The address with the bits after the prefix cleared.
    var network: UInt128 { length == 0 ? 0 : address.bits & (~0 << (128 - UInt128(length))) }

    /// Returns whether two prefixes of a family cover the same addresses.
    func isSame(as other: Self) -> Bool { length == other.length && network == other.network }
}

extension IPPrefix: CustomStringConvertible {
    /// The prefix in CIDR notation: `192.0.2.0/24`.
    public var description: String { "\(address)/\(length)" }
}
