import NetworkLab
import ReachabilityCore
import Testing

struct TrafficDecodingTests {
    /// Linux 6.18's reply to ``NetlinkRequests/traffic(sequence:)`` after loopback had carried six packets.
    private static let captured: [UInt8] =
        // struct nlmsghdr, struct if_stats_msg, and the header of IFLA_STATS_LINK_64.
        [0xE8, 0, 0, 0, 0x5C, 0, 2, 0, 1, 0, 0, 0, 0xC0, 0x1C, 0, 0]
        + [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0xCC, 0, 1, 0]
        // Packets, then bytes, received and sent.
        + [6, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]
        + [0x54, 3, 0, 0, 0, 0, 0, 0, 0x54, 3, 0, 0, 0, 0, 0, 0]
        + [UInt8](repeating: 0, count: 168)
        // NLMSG_DONE.
        + [0x14, 0, 0, 0, 3, 0, 2, 0, 1, 0, 0, 0, 0xC0, 0x1C, 0, 0, 0, 0, 0, 0]

    @Test func `a captured reply is decoded`() throws {
        let read = try decoded(Self.captured, .little)
        let loopback = TrafficMessage(index: 1, receivedBytes: 852, sentBytes: 852)
        #expect(read.map(\.event) == [.traffic(loopback), .done(errno: 0)])
    }

    @Test func `the request asks for counters only`() {
        let head: [UInt8] = [28, 0, 0, 0, 94, 0, 1, 3, 7, 0, 0, 0, 0, 0, 0, 0]
        #expect(NetlinkRequests.traffic(sequence: 7) == head + [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test func `counters of a link are decoded only if requested`() throws {
        let bytes = Self.link(family: 0)
        var decoder = NetlinkDecoder()
        #expect(try Self.events(bytes, decoder).first.map { if case .link = $0 { true } else { false } } == true)
        decoder.readsTraffic = true
        let expected = TrafficMessage(index: 5, receivedBytes: 3_000, sentBytes: .max)
        #expect(try Self.events(bytes, decoder) == [.traffic(expected)])
    }

    @Test func `a bridge's port is not counted twice`() throws {
        var decoder = NetlinkDecoder()
        decoder.readsTraffic = true
        #expect(try Self.events(Self.link(family: 7), decoder) == [.ignored])
    }

    @Test func `replies without counters are ignored`() throws {
        var builder = NetlinkMessageBuilder(type: 92)
        builder.append(bytes: [UInt8](repeating: 0, count: 12))
        builder.attribute(4, UInt32(1))  // IFLA_STATS_LINK_OFFLOAD_XSTATS
        #expect(try decoded(builder.build()).map(\.event) == [.ignored])
    }

    @Test(arguments: [0, 8, 31])
    func `truncated counters are an error`(length: Int) {
        var builder = NetlinkMessageBuilder(type: 92)
        builder.append(bytes: [UInt8](repeating: 0, count: 12))
        builder.attribute(1, bytes: [UInt8](repeating: 0, count: length))
        let bytes = builder.build()
        #expect(throws: NetlinkDecodeError.self) { try decoded(bytes) }
    }

    @Test func `a truncated body is an error`() {
        var builder = NetlinkMessageBuilder(type: 92)
        builder.append(bytes: [0, 0, 0, 0])
        let bytes = builder.build()
        #expect(throws: NetlinkDecodeError.self) { try decoded(bytes) }
    }

    /// An `RTM_NEWLINK` with `IFLA_STATS64`.
    private static func link(family: UInt8) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: 16)
        builder.append(bytes: [family, 0, 1, 0])
        builder.append(Int32(5))
        builder.append(bytes: [UInt8](repeating: 0, count: 8))
        builder.attribute(3, bytes: Array("eth0\0".utf8))
        builder.nested(23, flagged: false) { counters in
            for number in [1, 2, 3_000, .max] as [UInt64] { counters.append(number) }
        }
        return builder.build()
    }

    private static func events(_ bytes: [UInt8], _ decoder: NetlinkDecoder) throws -> [KernelEvent] {
        var found: [KernelEvent] = []
        try decoder.decode(bytes.span.bytes) { found.append($1) }
        return found
    }
}
