import ReachabilityCore
import Testing

@Suite("NetlinkMessageBuilder")
struct NetlinkMessageBuilderTests {
    @Test
    func `a message without a payload is its header alone, in either byte order`() {
        let little = NetlinkMessageBuilder(
            type: 18,
            flags: [.request, .dump],
            sequence: 0x0102_0304,
            port: 7,
            byteOrder: .little
        )
        #expect(little.build() == [16, 0, 0, 0, 18, 0, 1, 3, 4, 3, 2, 1, 7, 0, 0, 0])
        let big = NetlinkMessageBuilder(
            type: 18,
            flags: [.request, .dump],
            sequence: 0x0102_0304,
            port: 7,
            byteOrder: .big
        )
        #expect(big.build() == [0, 0, 0, 16, 0, 18, 3, 1, 1, 2, 3, 4, 0, 0, 0, 7])
    }

    @Test
    func `a number is as wide as its type, and what follows it starts at a multiple of 4`() {
        #expect(payload { $0.attribute(1, UInt8(0xAB)) } == [5, 0, 1, 0, 0xAB, 0, 0, 0])
        #expect(payload { $0.attribute(1, UInt16(0xABCD)) } == [6, 0, 1, 0, 0xCD, 0xAB, 0, 0])
        #expect(payload { $0.attribute(1, UInt32(0xABCD)) } == [8, 0, 1, 0, 0xCD, 0xAB, 0, 0])
        #expect(payload { $0.attribute(1, UInt64(1)) } == [12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(payload { $0.attribute(1, index: -1) } == [8, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(payload(.big) { $0.attribute(1, UInt16(0xABCD)) } == [0, 6, 0, 1, 0xAB, 0xCD, 0, 0])
    }

    @Test(arguments: ByteOrder.allCases)
    func `network byte order does not depend on the message's byte order`(order: ByteOrder) {
        let bytes = payload(order) { $0.attribute(1, networkOrder: UInt16(4789)) }
        #expect(bytes.dropFirst(4) == [0x12, 0xB5, 0, 0])
    }

    @Test
    func `an address is 4 or 16 bytes in network byte order`() {
        #expect(payload { $0.attribute(5, IPAddress(ipv4: 0xC000_0201)) } == [8, 0, 5, 0, 192, 0, 2, 1])
        let address = IPAddress(family: .ipv6, bits: 0x2001_0DB8 << 96 | 1)
        let bytes: [UInt8] = [20, 0, 5, 0, 0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
        #expect(payload { $0.attribute(5, address) } == bytes)
    }

    @Test
    func `a string ends in NUL; a flag has no payload; bytes are unchanged`() {
        #expect(payload { $0.attribute(3, string: "lo") } == [7, 0, 3, 0, 0x6C, 0x6F, 0, 0])
        #expect(payload { $0.attribute(3, string: "eth") } == [8, 0, 3, 0, 0x65, 0x74, 0x68, 0])
        #expect(payload { $0.attribute(3) } == [4, 0, 3, 0])
        #expect(payload { $0.attribute(3, bytes: [9, 8, 7, 6, 5]) } == [9, 0, 3, 0, 9, 8, 7, 6, 5, 0, 0, 0])
    }

    @Test
    func `a nest's length includes the padding of its attributes`() {
        let bytes = payload { builder in
            builder.nested(18) { link in
                link.attribute(1, string: "veth")
                link.nested(2, flagged: false) { $0.attribute(1, UInt8(3)) }
            }
            builder.attribute(4, UInt32(1))
        }
        #expect(
            bytes == [
                28, 0, 18, 0x80, 9, 0, 1, 0, 0x76, 0x65, 0x74, 0x68, 0, 0, 0, 0,
                12, 0, 2, 0, 5, 0, 1, 0, 3, 0, 0, 0,
                8, 0, 4, 0, 1, 0, 0, 0,
            ]
        )
    }

    @Test
    func `a record begins with its length, its padding included`() {
        let bytes = payload { builder in
            builder.nested(9, flagged: false) { hops in
                hops.record { hop in
                    hop.append(bytes: [0, 1])
                    hop.append(InterfaceIndex(3))
                    hop.attribute(5, IPAddress(ipv4: 0xC000_0201))
                }
                hops.record { $0.append(UInt8(1)) }
            }
        }
        #expect(bytes == [24, 0, 9, 0, 16, 0, 0, 1, 3, 0, 0, 0, 8, 0, 5, 0, 192, 0, 2, 1, 4, 0, 1, 0])
    }

    @Test
    func `an attribute that is too long for its length field is left out`() {
        let longest = payload { $0.attribute(1, bytes: repeatElement(7 as UInt8, count: 65_531)) }
        #expect(longest.count == 65_536)
        #expect(longest.prefix(5) == [0xFF, 0xFF, 1, 0, 7])
        let bytes = payload { builder in
            builder.attribute(1, bytes: repeatElement(7 as UInt8, count: 65_532))
            builder.nested(2) { nest in
                for _ in 0..<2 { nest.attribute(1, bytes: repeatElement(7 as UInt8, count: 40_000)) }
            }
            builder.record { $0.append(bytes: repeatElement(7 as UInt8, count: 65_534)) }
            builder.attribute(3)
        }
        #expect(bytes == [4, 0, 3, 0])
    }

    /// Returns what a body appends after a message's header.
    private func payload(_ order: ByteOrder = .little, _ body: (inout NetlinkMessageBuilder) -> Void) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: 16, byteOrder: order)
        body(&builder)
        return Array(builder.build().dropFirst(NetlinkHeader.size))
    }
}
