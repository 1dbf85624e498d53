import ReachabilityCore
import Testing

struct CaptureReaderTests {
    @Test(arguments: ["story-nanoseconds.pcap", "story-microseconds.pcap", "story.pcapng"])
    func `each format holds the same datagrams`(name: String) throws {
        let original = Fixture.bytes("story-nanoseconds.pcap")
        let expected = CaptureReading(original).records
        #expect(expected.count > 50)
        let bytes = Fixture.bytes(name)
        let reading = CaptureReading(bytes)
        #expect(reading.fault == nil)
        #expect(reading.records.map(\.number) == Array(1...expected.count))
        #expect(reading.records.map { Array(bytes[$0.payload]) } == expected.map { Array(original[$0.payload]) })
        let unit: Int64 = name.contains("microseconds") ? 1000 : 1
        #expect(reading.records.map(\.time) == expected.map { $0.time / unit * unit })
        #expect(reading.records.allSatisfy { $0.originalLength == $0.payload.count && $0.packetType == .outgoing })
    }

    @Test func `every message of this kernel is decoded`() throws {
        let bytes = Fixture.bytes("story.pcapng")
        var counts: [String: Int] = [:]
        for record in CaptureReading(bytes).records {
            for event in try record.events(in: bytes) { counts[event.label, default: 0] += 1 }
        }
        let expected: Set = [
            "link", "address", "addressRemoved", "route", "routeRemoved", "rule", "neighbour", "netconf", "done",
            "request",
        ]
        #expect(expected.isSubset(of: counts.keys))
        #expect(counts["request"] == 9)
        #expect(counts["done"] == 9)
    }

    /// Other programs send old headers, buffers padded with zeros, and requests for all families or for a part.
    @Test func `requests of other programs are decoded`() throws {
        let bytes = Fixture.bytes("iproute2.pcap")
        let events = try CaptureReading(bytes).records.flatMap { try $0.events(in: bytes) }
        let requests = events.compactMap { event in if case .request(let request) = event { request } else { nil } }
        let dumps = requests.filter(\.isDump)
        #expect(
            Set(dumps.filter { !$0.hasFurtherFilter && !$0.coversAllFamilies }.map(\.subject)) == [
                .links, .rules(.ipv4), .rules(.ipv6), .routes(.ipv4, table: .main), .routes(.ipv6, table: nil),
                .nexthops,
            ]
        )
        #expect(
            Set(dumps.filter(\.coversAllFamilies).map(\.subject)) == [
                .addresses(.ipv4), .routes(.ipv4, table: nil), .neighbours(.ipv4, interface: nil), .netconf(.ipv4),
            ]
        )
        #expect(dumps.filter(\.hasFurtherFilter).map(\.subject) == [.routes(.ipv4, table: .main)])
        #expect(requests.contains { !$0.isDump && $0.subject == .routes(.ipv4, table: nil) })
        #expect(events.contains { $0.routeMessage?.isDefaultLike == true })
    }

    @Test func `a capture of the other byte order is read`() throws {
        let bytes = Fixture.bytes("big-endian.pcap")
        let records = CaptureReading(bytes).records
        #expect(records.map(\.offset) == [24, 116, 304])
        #expect(records.map(\.byteOrder) == [.big, .big, .big])
        #expect(records.map(\.time) == [0, 1000, 2000].map { 1_700_000_000_123_456_000 + $0 })
        #expect(try records.flatMap { try $0.events(in: bytes) } == Self.foreignEvents())
    }

    @Test func `sections, interfaces and every type of packet block are read`() throws {
        let bytes = Fixture.bytes("sections.pcapng")
        let reading = CaptureReading(bytes)
        #expect(reading.fault == nil)
        // Packet 1 is Ethernet's. The unit is 2^-20 s with an offset of 1,000 s, then 1 ns; a simple block has no time.
        #expect(reading.records.map(\.number) == [2, 3, 4, 5, 6])
        #expect(
            reading.records.map(\.time) == [
                1_001_500_000_000, 1_002_000_000_000, 0, 4_294_967_298, 1_700_000_000_123_456_789,
            ]
        )
        #expect(reading.records.map(\.byteOrder) == [.big, .big, .little, .little, .little])
        #expect(reading.records.map(\.packetType) == [.outgoing, .outgoing, .outgoing, .outgoing, .user])
        let expected = Self.foreignEvents()
        #expect(try reading.records.flatMap { try $0.events(in: bytes) } == expected.dropLast() + expected)
    }

    @Test func `a file without records has none`() {
        let reading = CaptureReading(Array(Fixture.bytes("story-nanoseconds.pcap").prefix(24)))
        #expect(reading.records.isEmpty)
        #expect(reading.fault == nil)
    }

    /// The messages of `make-captures.py` in either byte order.
    private static func foreignEvents() -> [KernelEvent] {
        var link = LinkMessage(index: 2)
        link.hardwareType = .ethernet
        link.flags = .init(rawValue: 0x11043)
        link.name = "eth0"
        link.mtu = 1500
        link.operationalState = .up
        var ipv4 = RouteMessage(destination: .all(.ipv4), table: .init(rawValue: 1000))
        ipv4.origin = 4
        ipv4.metric = 600
        ipv4.nextHops = [.init(interface: 2, gateway: IPAddress("192.0.2.1"))]
        var ipv6 = RouteMessage(destination: .all(.ipv6))
        ipv6.origin = 9
        ipv6.nextHops = [.init(interface: 2, gateway: IPAddress("fe80::1"), weight: 3)]
        ipv6.lifetime = .seconds(1800)
        return [.link(link), .route(ipv4), .route(ipv6), .done(errno: 4)]
    }
}

extension KernelEvent {
    /// The name of the event's case.
    var label: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
}
