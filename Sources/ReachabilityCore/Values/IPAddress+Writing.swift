extension IPAddress {
    /// The address as inet_ntop(3) writes it: dotted decimal, or RFC 5952's shortest form in small letters.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.longestText) { memory in
            var text = OutputSpan(buffer: memory, initializedCount: 0)
            write(to: &text)
            return text.finalize(for: memory)
        }
    }

    /// Writes the bytes of ``description`` where there is room for ``longestText`` of them; it allocates nothing.
    package func write(to text: inout OutputSpan<UInt8>) {
        switch family {
        case .ipv4: IPv4Text.write(ipv4Value, to: &text)
        case .ipv6: IPv6Text.write(bits, to: &text)
        }
    }

    /// The most bytes that an address's text has: eight words of four digits, and the colons between.
    package static var longestText: Int { 39 }
}

extension IPv4Text {
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

extension IPv6Text {
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

    private static func write(
        _ words: InlineArray<8, UInt16>,
        _ range: Range<Int>,
        to text: inout OutputSpan<UInt8>
    ) {
        for position in range {
            if position > range.lowerBound { separate(&text) }
            write(words[position], to: &text)
        }
    }

    private static func separate(_ text: inout OutputSpan<UInt8>) {
        text.append(UInt8(ascii: ":"))
    }

    /// The first of the longest runs of zeros, or nothing; a single zero is no run (RFC 5952, 4.2).
    private static func longestZeros(_ words: InlineArray<8, UInt16>) -> Range<Int> {
        var longest = 0..<1
        var start = 0
        for position in 0...8 where position == 8 || words[position] != 0 {
            if position - start > longest.count { longest = start..<position }
            start = position + 1
        }
        return longest.count > 1 ? longest : 0..<0
    }

    /// Writes a number without leading zeros, in small letters.
    private static func write(_ word: UInt16, to text: inout OutputSpan<UInt8>) {
        var shift = word < 0x10 ? 0 : word < 0x100 ? 4 : word < 0x1000 ? 8 : 12
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: word &>> UInt16(shift) & 15)
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
    }
}
