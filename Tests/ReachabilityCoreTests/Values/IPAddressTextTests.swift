import Glibc
import NetworkLab
import ReachabilityCore
import Testing

struct IPAddressTextTests {
    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("192.0.2.255", "192.0.2.255"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ])
    func `an address is formatted in its canonical form`(text: String, canonical: String) throws {
        #expect(try #require(IPAddress(text)).description == canonical)
    }

    @Test(arguments: [
        "", " ", "1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.4 ",
        "0x1.2.3.4",
        ":", ":::", "1:", ":1", "::1::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
        "1:2:3:4::5:6:7:8", "12345::", "g::", "::1%lo", "::/0", "1.2.3.4::", "::1.2.3", "1:2:3:4:5:6:7:1.2.3.4",
        "::1.2.3.4:5", "\u{0661}.2.3.4", "1.2.3.4\0",
    ])
    func `any other text is refused`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `a prefix is formatted in CIDR notation`() {
        #expect(IPPrefix.all(.ipv4).description == "0.0.0.0/0")
        #expect(IPPrefix(.init(family: .ipv6, bits: 0x2001_0DB8 << 96), length: 32).description == "2001:db8::/32")
    }

    @Test func `every address is formatted as inet_ntop does`() {
        var generator = SeededGenerator(seed: 4291)
        for _ in 0..<20_000 {
            let address = IPAddress.random(using: &generator)
            #expect(address.description == systemText(address))
            #expect(IPAddress(address.description) == address)
        }
    }

    @Test func `every text is parsed as inet_pton does`() {
        var generator = SeededGenerator(seed: 5952)
        var accepted = 0
        for _ in 0..<50_000 {
            let text = mutated(IPAddress.random(using: &generator).description, using: &generator)
            let expected = systemAddress(text)
            #expect(IPAddress(text) == expected, "\(text)")
            if expected != nil { accepted += 1 }
        }
        // Both results must be frequent, or the comparison proves little.
        #expect((5_000...45_000).contains(accepted))
    }
}

extension IPAddress {
    /// An address with many zero words, so that every form of the text occurs.
    static func random(using generator: inout some RandomNumberGenerator) -> Self {
        if Bool.random(using: &generator) { return .init(ipv4: .random(in: 0 ... .max, using: &generator)) }
        var bits: UInt128 = 0
        for _ in 0..<8 {
            let random =
                UInt16.random(in: 0 ... .max, using: &generator) >> UInt16.random(in: 0..<16, using: &generator)
            let word: UInt16? = [0, 0, 0, 0xFFFF, random].randomElement(using: &generator)
            bits = bits << 16 | UInt128(word ?? 0)
        }
        return .init(family: .ipv6, bits: bits)
    }
}

/// Inserts, removes or replaces up to two characters with characters that occur in addresses.
private func mutated(_ text: String, using generator: inout some RandomNumberGenerator) -> String {
    var characters = Array(text)
    for _ in 0..<Int.random(in: 0...2, using: &generator) {
        let position = Int.random(in: 0...characters.count, using: &generator)
        let replacement = Array("0123456789abcdefABCDEF:::...gx% ").randomElement(using: &generator).map { [$0] } ?? []
        let length = min(Int.random(in: 0...1, using: &generator), characters.count - position)
        characters.replaceSubrange(
            position..<(position + length),
            with: Bool.random(using: &generator) ? replacement : []
        )
    }
    return String(characters)
}

/// Parses a text with inet_pton(3).
private func systemAddress(_ text: String) -> IPAddress? {
    var ipv4: UInt32 = 0
    if inet_pton(AF_INET, text, &ipv4) == 1 { return .init(ipv4: UInt32(bigEndian: ipv4)) }
    var ipv6: UInt128 = 0
    return inet_pton(AF_INET6, text, &ipv6) == 1 ? .init(family: .ipv6, bits: UInt128(bigEndian: ipv6)) : nil
}

/// Formats an address with inet_ntop(3).
private func systemText(_ address: IPAddress) -> String {
    var buffer = [CChar](repeating: 0, count: 64)
    if address.family == .ipv4 {
        var value = address.ipv4Value.bigEndian
        inet_ntop(AF_INET, &value, &buffer, 64)
    } else {
        var value = address.bits.bigEndian
        inet_ntop(AF_INET6, &value, &buffer, 64)
    }
    return buffer.withUnsafeBufferPointer { $0.baseAddress.map(String.init(cString:)) ?? "" }
}
