import ReachabilityCore
import Testing

struct NetlinkRequestDecodingTests {
    @Test(
        arguments: [
            (18, [0], .links), (18, [17], .links), (22, [10], .addresses(.ipv6)), (26, [2], .routes(.ipv4, table: nil)),
            (34, [10], .rules(.ipv6)), (106, [], .nexthops), (30, [2], .neighbours(.ipv4, interface: nil)),
            (82, [10], .netconf(.ipv6)),
        ] as [(UInt16, [UInt8], DumpSubject)]
    )
    func `a request may consist of its family only`(type: UInt16, body: [UInt8], subject: DumpSubject) throws {
        #expect(try request(type, .dump, body) == .request(.init(subject: subject, isDump: true)))
    }

    @Test func `a request for all families is recognized`() throws {
        var expected = NetlinkRequest(subject: .addresses(.ipv4), isDump: true)
        expected.coversAllFamilies = true
        #expect(try request(22, .dump, [0]) == .request(expected))
    }

    @Test(
        arguments: [
            (18, [0, 0, 0, 0, 3] + zeros(11)), (22, [2, 0, 0, 0, 3] + zeros(3)), (26, [2, 0, 0, 0, 0, 4] + zeros(6)),
            (26, [2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0]), (26, [2] + zeros(11) + [8, 0, 4, 0, 3, 0, 0, 0]),
            (30, [2] + zeros(9) + [8, 0]), (106, [2] + zeros(7)), (106, zeros(8) + [4, 0, 9, 0]),
        ] as [(UInt16, [UInt8])]
    )
    func `an unsupported filter is recognized`(type: UInt16, body: [UInt8]) throws {
        guard case .request(let found) = try request(type, .dump, body) else {
            Issue.record("no request")
            return
        }
        #expect(found.hasFurtherFilter)
        // A lookup has no filter: its attributes are what it looks up.
        guard case .request(let found) = try request(type, [], body) else { return }
        #expect(!found.hasFurtherFilter)
        #expect(!found.isDump)
    }

    @Test(
        arguments: [
            (24, [2, 0, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0]), (25, [2, 0, 0, 0, 254, 4, 0, 1, 0, 0, 0, 0]), (19, zeros(16)),
            (18, [7] + zeros(15)), (18, [10] + zeros(15)), (30, [7] + zeros(11)), (38, zeros(20)),
        ] as [(UInt16, [UInt8])]
    )
    func `requests for changes and unknown requests are ignored`(type: UInt16, body: [UInt8]) throws {
        #expect(try request(type, .dump, body) == .ignored)
    }

    /// The kernel's notification differs from the request only in the port.
    @Test func `a request for a nexthop is not a nexthop`() throws {
        let event = KernelEvent.nexthop(.init(id: 7))
        let flags: NetlinkFlags = [.request, .acknowledge, .create]
        #expect(try decoded(NetlinkEncoder().encode(event, flags: flags)).map(\.event) == [.ignored])
        #expect(try decoded(NetlinkEncoder().encode(event, flags: flags, port: 4711)).map(\.event) == [event])
    }

    private func request(_ type: UInt16, _ flags: NetlinkFlags, _ body: [UInt8]) throws -> KernelEvent? {
        var builder = NetlinkMessageBuilder(type: type, flags: flags.union(.request), byteOrder: .little)
        builder.append(bytes: body)
        return try decoded(builder.build(), .little).first?.event
    }
}

private func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
