import NetworkLab
import ReachabilityCore
import Testing

struct NetlinkRoundTripTests {
    @Test(arguments: ByteOrder.allCases, [1, 2, 3] as [UInt64])
    func `every message is decoded as it was encoded`(byteOrder: ByteOrder, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let encoder = NetlinkEncoder(byteOrder: byteOrder, families: .some)
        for _ in 0..<5_000 {
            let event = generator.event()
            let sequence: UInt32 = generator.number()
            let bytes = encoder.encode(event, sequence: sequence, port: 7)
            let read = try decoded(bytes, byteOrder, of: event.protocolNumber)
            #expect(read.map(\.event) == [event])
            if event.protocolNumber != NetlinkDecoder.uevent { #expect(read.first?.header.sequence == sequence) }
        }
    }

    @Test(arguments: ByteOrder.allCases, [NetlinkDecoder.route, NetlinkDecoder.generic])
    func `a datagram holds several messages`(byteOrder: ByteOrder, protocolNumber: UInt16) throws {
        var generator = SeededGenerator(seed: 4)
        let events = (0..<500).map { _ in generator.event() }.filter { $0.protocolNumber == protocolNumber }
        let encoder = NetlinkEncoder(byteOrder: byteOrder, families: .some)
        #expect(events.count > 20)
        let read = try decoded(events.flatMap { encoder.encode($0) }, byteOrder, of: protocolNumber)
        #expect(read.map(\.event) == events)
    }
}

/// The messages of a datagram, with their headers.
func decoded(
    _ bytes: [UInt8],
    _ byteOrder: ByteOrder = .host,
    of protocolNumber: UInt16 = NetlinkDecoder.route
) throws(NetlinkDecodeError) -> [(header: NetlinkHeader, event: KernelEvent)] {
    var found: [(NetlinkHeader, KernelEvent)] = []
    let decoder = NetlinkDecoder(byteOrder: byteOrder, protocolNumber: protocolNumber, families: .some)
    try decoder.decode(bytes.span.bytes) { found.append(($0, $1)) }
    return found
}

extension GenericFamilies {
    /// Numbers that a kernel could have assigned.
    static var some: Self {
        var families = Self()
        families.note(.init(name: "nl80211", id: 0x1C))
        families.note(.init(name: "wireguard", id: 0x1D))
        families.note(.init(name: "team", id: 0x1E))
        families.note(.init(name: "l2tp", id: 0x1F))
        return families
    }
}
