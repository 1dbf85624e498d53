import NetworkLab
import ReachabilityCore
import Testing

/// Messages written by hand after `struct nduseroptmsg`, RFC 8910 and RFC 8781.
struct RouterOptionDecodingTests {
    private static let router: [UInt8] = [0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0xFF, 0xFE, 0, 0, 0x01]
    private static let routerAddress = IPAddress("fe80::200:ff:fe00:1")

    /// A message of a little-endian machine: interface 7, the options, and the router's address.
    private static func message(
        _ options: [UInt8],
        length: Int? = nil,
        family: UInt8 = 10,
        type: UInt8 = 134,
        code: UInt8 = 0,
        router: [UInt8]? = router
    ) -> [UInt8] {
        let size = UInt16(length ?? options.count)
        let attribute = router.map { [UInt8(4 + $0.count), 0, 1, 0] + $0 } ?? []
        let body: [UInt8] =
            [family, 0, UInt8(truncatingIfNeeded: size), UInt8(size >> 8), 7, 0, 0, 0, type, code, 0, 0, 0, 0, 0, 0]
        let total = UInt16(16 + body.count + options.count + attribute.count)
        let header = [UInt8(truncatingIfNeeded: total), UInt8(total >> 8), 0, 0, 68, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        return header + body + options + attribute
    }

    /// Option 37 with a URI of 26 bytes: 28 with type and length, padded to 32, which are 4 units.
    private static let portal: [UInt8] = [37, 4] + Array("https://portal.example/api".utf8) + [0, 0, 0, 0]
    /// Option 38: a lifetime of 1,800 s, which is 225 units of 8 s, code 0 (96 bits), and 64:ff9b::.
    private static let translator: [UInt8] = [38, 2, 0x07, 0x08, 0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    /// Option 25 (RDNSS), which the kernel sends to the same group.
    private static let nameServer: [UInt8] = [25, 3, 0, 0, 0, 0, 0x0E, 0x10] + router

    private static func options(_ bytes: [UInt8]) throws -> [RouterOption] {
        let events = try decoded(message(bytes), .little).map(\.event)
        guard case .routerOption(let message) = events.first else { return [] }
        return message.options
    }

    @Test func `the URI of a captive portal is decoded`() throws {
        let expected = RouterOptionMessage(
            index: 7,
            router: Self.routerAddress,
            options: [.captivePortal("https://portal.example/api")]
        )
        #expect(try decoded(Self.message(Self.portal), .little).map(\.event) == [.routerOption(expected)])
    }

    @Test func `a URI that fills its option needs no padding`() throws {
        let text = "https://abcdef"  // 14 bytes
        #expect(try Self.options([37, 2] + Array(text.utf8)) == [.captivePortal(text)])
    }

    @Test func `the URN of a network without a portal is passed on`() throws {
        let text = Array(RouterOption.unrestrictedURI.utf8)  // 36 bytes
        #expect(try Self.options([37, 5] + text + [0, 0]) == [.captivePortal(RouterOption.unrestrictedURI)])
    }

    @Test func `an empty URI, and one that is not UTF-8, are ignored`() throws {
        #expect(try Self.options([37, 1, 0, 0, 0, 0, 0, 0]) == [])
        #expect(try Self.options([37, 1, 0xC3, 0x28, 0, 0, 0, 0]) == [])
    }

    @Test func `a prefix for NAT64 is decoded with its lifetime`() throws {
        #expect(try Self.options(Self.translator) == [.nat64(.wellKnown, lifetime: .seconds(1_800))])
    }

    @Test(arguments: zip(0...5, [96, 64, 56, 48, 40, 32]))
    func `each code is the prefix length that RFC 8781 gives it`(code: UInt8, length: Int) throws {
        var bytes = Self.translator
        bytes[3] |= code
        bytes.replaceSubrange(4..., with: [UInt8](repeating: 0xFF, count: 12))
        guard case .nat64(let prefix, let lifetime)? = try Self.options(bytes).first else {
            Issue.record("no prefix")
            return
        }
        #expect(lifetime == .seconds(1_800))
        #expect(Int(prefix.prefix.length) == length)
        // What follows the prefix is cleared.
        #expect(prefix.prefix.address.bits == UInt128.max << UInt128(128 - length))
    }

    @Test func `the longest lifetime is 65,528 seconds, and zero withdraws the prefix`() throws {
        var bytes = Self.translator
        bytes.replaceSubrange(2..<4, with: [0xFF, 0xF8])
        #expect(try Self.options(bytes) == [.nat64(.wellKnown, lifetime: .seconds(65_528))])
        bytes.replaceSubrange(2..<4, with: [0, 0])
        #expect(try Self.options(bytes) == [.nat64(.wellKnown, lifetime: .zero)])
    }

    @Test(arguments: [6, 7] as [UInt8])
    func `reserved codes of prefix lengths are ignored`(code: UInt8) throws {
        var bytes = Self.translator
        bytes[3] |= code
        #expect(try Self.options(bytes) == [])
    }

    @Test func `a prefix option of another length is ignored, and the next option is decoded`() throws {
        let long = [38, 3] + Self.translator.dropFirst(2) + [UInt8](repeating: 0, count: 8)
        #expect(try Self.options(long + Self.portal) == [.captivePortal("https://portal.example/api")])
    }

    @Test func `several options are decoded in order, and others are skipped`() throws {
        let options = try Self.options(Self.nameServer + Self.translator + Self.portal)
        #expect(
            options == [.nat64(.wellKnown, lifetime: .seconds(1_800)), .captivePortal("https://portal.example/api")]
        )
    }

    @Test func `a message without a known option is ignored`() throws {
        #expect(try decoded(Self.message(Self.nameServer), .little).map(\.event) == [.ignored])
        #expect(try decoded(Self.message([]), .little).map(\.event) == [.ignored])
    }

    @Test func `only router advertisements of IPv6 count`() throws {
        for bytes in [
            Self.message(Self.portal, family: 2), Self.message(Self.portal, type: 137),
            Self.message(Self.portal, code: 1),
        ] { #expect(try decoded(bytes, .little).map(\.event) == [.ignored]) }
    }

    @Test func `the router's address may be missing`() throws {
        let expected = RouterOptionMessage(
            index: 7,
            router: nil,
            options: [.captivePortal("https://portal.example/api")]
        )
        #expect(try decoded(Self.message(Self.portal, router: nil), .little).map(\.event) == [.routerOption(expected)])
    }

    @Test func `lengths that do not fit are errors with their position`() throws {
        // An option of length 0 would never end (RFC 4861, 4.6).
        #expect(throws: NetlinkDecodeError.self) { try decoded(Self.message([37, 0, 0, 0, 0, 0, 0, 0]), .little) }
        #expect(throws: NetlinkDecodeError.self) { try decoded(Self.message([37, 2, 65, 0, 0, 0, 0, 0]), .little) }
        #expect(throws: NetlinkDecodeError.self) { try decoded(Self.message(Self.portal, length: 200), .little) }
        #expect(throws: NetlinkDecodeError.self) {
            try decoded(Self.message(Self.portal, router: [0xFE, 0x80]), .little)
        }
        let fault = #expect(throws: NetlinkDecodeError.self) {
            try decoded(Self.message(Self.portal + [38, 9, 0, 0, 0, 0, 0, 0]), .little)
        }
        #expect(fault?.offset == 32 + 32)
        #expect(fault?.fault == .invalidEntryLength(attribute: "nduseropt_opts", length: 72, available: 8))
    }

    @Test func `the interface and the length are in the order of the machine, the options in that of the network`()
        throws
    {
        let expected = RouterOptionMessage(
            index: 0x0102_0304,
            router: Self.routerAddress,
            options: [.nat64(.wellKnown, lifetime: .seconds(600)), .captivePortal("https://p.example")]
        )
        for order in ByteOrder.allCases {
            let bytes = NetlinkEncoder(byteOrder: order).encode(.routerOption(expected))
            #expect(try decoded(bytes, order).map(\.event) == [.routerOption(expected)])
        }
    }
}
