import NetworkLab
import ReachabilityCore
import Testing

struct NAT64PrefixTests {
    /// The examples of RFC 6052, 2.4, for 192.0.2.33.
    private static let examples = [
        ("2001:db8::", 32, "2001:db8:c000:221::"),
        ("2001:db8:100::", 40, "2001:db8:1c0:2:21::"),
        ("2001:db8:122::", 48, "2001:db8:122:c000:2:2100::"),
        ("2001:db8:122:300::", 56, "2001:db8:122:3c0:0:221::"),
        ("2001:db8:122:344::", 64, "2001:db8:122:344:c0:2:2100::"),
        ("2001:db8:122:344::", 96, "2001:db8:122:344::192.0.2.33"),
        ("64:ff9b::", 96, "64:ff9b::192.0.2.33"),
    ]

    private static func prefix(_ text: String, _ length: Int) throws -> NAT64Prefix {
        let address = try #require(IPAddress(text))
        return try #require(NAT64Prefix(.init(address, length: UInt8(length))))
    }

    @Test(arguments: examples)
    func `the examples of RFC 6052 are reproduced in both directions`(
        text: String,
        length: Int,
        expected: String
    ) throws {
        let prefix = try Self.prefix(text, length)
        let host = try #require(IPAddress("192.0.2.33"))
        let translated = try #require(prefix.address(for: host))
        #expect(translated == IPAddress(expected))
        #expect(prefix.embeddedAddress(in: translated) == host)
    }

    @Test func `the well-known prefix is 64:ff9b::/96`() throws {
        #expect(try NAT64Prefix.wellKnown == Self.prefix("64:ff9b::", 96))
    }

    @Test func `every IPv4 address survives the translation, with every length`() throws {
        var generator = SeededGenerator(seed: 6052)
        for length in [32, 40, 48, 56, 64, 96] as [UInt8] {
            for _ in 0..<500 {
                let bits = UInt128.random(in: 0 ... .max, using: &generator)
                let prefix = try #require(NAT64Prefix(.init(.init(family: .ipv6, bits: bits), length: length)))
                let host = IPAddress(ipv4: .random(in: 0 ... .max, using: &generator))
                let translated = try #require(prefix.address(for: host))
                #expect(prefix.prefix.contains(translated))
                if length < 96 { #expect(translated.bits >> 56 & 0xFF == 0) }
                #expect(prefix.embeddedAddress(in: translated) == host)
            }
        }
    }

    @Test(arguments: [0, 31, 33, 63, 65, 95, 97, 128])
    func `other lengths are refused`(length: Int) throws {
        #expect(try NAT64Prefix(.init(#require(IPAddress("2001:db8::")), length: UInt8(length))) == nil)
    }

    @Test func `an IPv4 prefix, an IPv6 destination, and an address outside are refused`() throws {
        #expect(NAT64Prefix(.init(.init(ipv4: 0), length: 32)) == nil)
        let prefix = NAT64Prefix.wellKnown
        let other = try #require(IPAddress("2001:db8::1"))
        #expect(prefix.address(for: other) == nil)
        #expect(prefix.embeddedAddress(in: other) == nil)
    }

    @Test func `an address with bits in the reserved octet, or after the IPv4 address, embeds none`() throws {
        let prefix = try Self.prefix("2001:db8:122:344::", 64)
        #expect(try prefix.embeddedAddress(in: #require(IPAddress("2001:db8:122:344:1c0:2:2100::"))) == nil)
        #expect(try prefix.embeddedAddress(in: #require(IPAddress("2001:db8:122:344:c0:2:2100:1"))) == nil)
    }

    @Test func `the addresses of ipv4only.arpa reveal the prefixes`() throws {
        let first = try Self.prefix("64:ff9b::", 96)
        let second = try Self.prefix("2001:db8:122:300::", 56)
        let known = [IPAddress(ipv4: 0xC000_00AA), IPAddress(ipv4: 0xC000_00AB)]
        let answers = [first, second].flatMap { prefix in known.compactMap { prefix.address(for: $0) } }
        #expect(NAT64Prefix.prefixes(revealedBy: known + answers) == [first, second])
        #expect(NAT64Prefix.prefixes(revealedBy: known) == [])
        #expect(try NAT64Prefix.prefixes(revealedBy: [#require(IPAddress("2001:db8::1"))]) == [])
    }
}
