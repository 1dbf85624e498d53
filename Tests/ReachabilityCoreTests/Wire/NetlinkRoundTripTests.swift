import ReachabilityCore
import Testing

struct NetlinkRoundTripTests {
    @Test(arguments: ByteOrder.allCases, [1, 2, 3] as [UInt64])
    func everyMessageIsReadAsItWasWritten(byteOrder: ByteOrder, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let event = generator.event()
            let sequence: UInt32 = generator.number()
            let bytes = NetlinkEncoder(byteOrder: byteOrder).encode(event, sequence: sequence, port: 7)
            let read = try decoded(bytes, byteOrder, isUevent: event.isUevent)
            #expect(read.map(\.event) == [event])
            if !event.isUevent { #expect(read.first?.header.sequence == sequence) }
        }
    }

    @Test(arguments: ByteOrder.allCases)
    func messagesFollowEachOtherInADatagram(byteOrder: ByteOrder) throws {
        var generator = SeededGenerator(seed: 4)
        let events = (0..<500).map { _ in generator.event() }.filter { !$0.isUevent }
        let datagram = events.flatMap { NetlinkEncoder(byteOrder: byteOrder).encode($0) }
        #expect(try decoded(datagram, byteOrder).map(\.event) == events)
    }
}

/// The messages of a datagram, with their heads.
func decoded(
    _ bytes: [UInt8],
    _ byteOrder: ByteOrder = .host,
    isUevent: Bool = false
) throws(NetlinkDecodeError) -> [(header: NetlinkHeader, event: KernelEvent)] {
    var found: [(NetlinkHeader, KernelEvent)] = []
    let decoder = NetlinkDecoder(
        byteOrder: byteOrder,
        protocolNumber: isUevent ? NetlinkDecoder.uevent : NetlinkDecoder.route
    )
    try decoder.decode(bytes.span.bytes) { found.append(($0, $1)) }
    return found
}

extension KernelEvent {
    /// Whether the event has a datagram of its own netlink family.
    var isUevent: Bool {
        if case .uevent = self { true } else { false }
    }
}
