import NetworkLab
import ReachabilityCore
import Testing

struct CaptureErrorTests {
    private static let pcap = Fixture.bytes("big-endian.pcap")
    private static let pcapng = Fixture.bytes("sections.pcapng")

    @Test(
        arguments: [
            ([], .truncatedHead(required: 24, available: 0), 0),
            ([0xA1, 0xB2, 0xC3], .truncatedHead(required: 24, available: 3), 0),
            (Array(pcap.prefix(23)), .truncatedHead(required: 24, available: 23), 0),
            (Array(pcapng.prefix(11)), .truncatedHead(required: 12, available: 11), 0),
            (Array("PK\u{3}\u{4} something".utf8), .unknownMagic(0x0403_4B50), 0),
            (changed(pcap, at: 5, to: 3), .unsupportedVersion(major: 3, minor: 4), 4),
            (changed(pcap, at: 23, to: 1), .otherLinkType(1), 20),
            (changed(pcapng, at: 13, to: 2), .unsupportedVersion(major: 2, minor: 0), 12),
            (changed(pcapng, at: 8, to: 0x2A), .unknownMagic(0x4D3C_2B2A), 8),
        ] as [([UInt8], CaptureError.Fault, Int)]
    )
    func `a file that is not a netlink capture is refused`(bytes: [UInt8], fault: CaptureError.Fault, offset: Int) {
        let reading = CaptureReading(bytes)
        #expect(reading.records.isEmpty)
        #expect(reading.fault?.fault == fault)
        #expect(reading.fault?.record == nil)
        #expect(reading.fault?.offset == offset)
        #expect(reading.fault?.canContinue == false)
    }

    @Test(
        arguments: [
            (Array(pcap.dropLast(1)), 3, 304, .truncatedRecord(required: 52, available: 51)),
            (Array(pcap.prefix(304 + 15)), 3, 304, .truncatedRecord(required: 16, available: 15)),
            (changed(pcap, at: 304 + 8, to: 0x80), 3, 312, .absurdLength(0x8000_0024)),
            (changed(pcap, at: 304 + 8 + 3, to: 15), 3, 304, .shortPacket(available: 15)),
            (changed(pcap, at: 304 + 16 + 3, to: 1), 3, 322, .otherHardwareType(0x0301)),
        ] as [([UInt8], Int, Int, CaptureError.Fault)]
    )
    func `records before a damaged one are returned`(
        bytes: [UInt8],
        number: Int,
        offset: Int,
        fault: CaptureError.Fault
    ) {
        let reading = CaptureReading(bytes)
        #expect(reading.records.map(\.number) == [1, 2])
        #expect(reading.fault?.fault == fault)
        #expect(reading.fault?.record == number)
        #expect(reading.fault?.offset == offset)
    }

    @Test func `the error text names the fault, its position and the remedy`() {
        let truncated = CaptureReading(Array(Self.pcap.dropLast(1))).fault
        #expect(
            truncated?.description
                == "record 3 at byte 304: the record is truncated: it needs 52 bytes, 51 are left"
        )
        let ethernet = CaptureReading(changed(Self.pcap, at: 23, to: 1)).fault
        #expect(
            ethernet?.description
                == "file header at byte 20: link type 1 is not netlink (253); capture on an nlmon interface, or with netwatch record"
        )
        #expect(CaptureReading([0x1F, 0x8B, 8, 0, 0, 0]).fault?.description.contains("gunzip") == true)
    }

    @Test func `reading continues after a packet that is not netlink`() {
        let bytes = changed(Self.pcap, at: 24 + 16 + 3, to: 1)
        let reading = CaptureReading(bytes, goingOn: true)
        #expect(reading.fault?.record == 1)
        #expect(reading.records.map(\.number) == [2, 3])
    }

    @Test func `an Ethernet capture in pcapng is refused`() {
        // The second interface's link type becomes Ethernet's too.
        let place = Self.pcapng.indices.first { Self.pcapng[$0] == 253 } ?? 0
        let reading = CaptureReading(changed(Self.pcapng, at: place, to: 1), goingOn: true)
        #expect(reading.fault?.fault == .otherLinkType(1))
        #expect(reading.fault?.record == 1)
        #expect(reading.records.map(\.number) == [4, 5, 6])
    }

    @Test func `a block whose lengths differ is refused`() throws {
        // The first packet block: type 6, after the section header and two interfaces.
        let start = try #require(Self.pcapng.indices.first { Array(Self.pcapng[$0...].prefix(4)) == [0, 0, 0, 6] })
        let length = Int(Self.pcapng[start + 7])
        for (bytes, fault, offset) in [
            (changed(Self.pcapng, at: start + 7, to: 11), .invalidBlockLength(11), start + 4),
            (
                changed(Self.pcapng, at: start + 7, to: UInt8(length + 1)), .invalidBlockLength(UInt32(length + 1)),
                start + 4
            ),
            (changed(Self.pcapng, at: start + 4, to: 0x7F), .absurdLength(0x7F00_0000 + UInt32(length)), start + 4),
            (
                changed(Self.pcapng, at: start + 5, to: 1),
                .truncatedRecord(required: 0x1_0000 + length, available: Self.pcapng.count - start), start
            ),
            (
                changed(Self.pcapng, at: start + length - 1, to: 0),
                .mismatchedBlockLength(first: UInt32(length), last: 0), start + length - 4
            ),
            (changed(Self.pcapng, at: start + 11, to: 9), .unknownInterface(9), start + 8),
            (
                changed(Self.pcapng, at: start + 8 + 14, to: 1),
                .truncatedRecord(required: 20 + 0x100 + 60, available: length - 12), start
            ),
        ] as [([UInt8], CaptureError.Fault, Int)] {
            let reading = CaptureReading(bytes)
            #expect(reading.fault?.fault == fault)
            #expect(reading.fault?.offset == offset)
            #expect(reading.fault?.record == 1)
        }
    }

    @Test(arguments: ["big-endian.pcap", "sections.pcapng", "story.pcapng"], [21, 22] as [UInt64])
    func `any bytes are decoded or refused`(name: String, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let original = Array(Fixture.bytes(name).prefix(4_000))
        var refused = 0
        for _ in 0..<1_000 {
            var bytes = original
            generator.mutate(&bytes)
            let reading = CaptureReading(bytes, goingOn: true)
            #expect(reading.records.allSatisfy { $0.payload.upperBound <= bytes.count })
            if reading.fault != nil { refused += 1 }
        }
        #expect(refused > 100)
    }
}

/// The bytes with one of them changed.
private func changed(_ bytes: [UInt8], at position: Int, to value: UInt8) -> [UInt8] {
    var bytes = bytes
    bytes[position] = value
    return bytes
}
