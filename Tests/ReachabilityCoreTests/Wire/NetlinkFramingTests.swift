import ReachabilityCore
import Testing

struct NetlinkFramingTests {
    private static let route = NetlinkEncoder().encode(.route(.init(destination: .all(.ipv4))))

    private static func route(ofLength length: [UInt8]) -> [UInt8] { length + route.dropFirst(4) }

    @Test func `every message of a datagram is delivered`() throws {
        let datagram = Self.route + NetlinkEncoder().encode(.done(errno: 0), flags: .multi, sequence: 9)
        let found = try decoded(datagram)
        #expect(found.map(\.event) == [.route(.init(destination: .all(.ipv4))), .done(errno: 0)])
        #expect(found.last?.header.flags == .multi)
        #expect(found.last?.header.sequence == 9)
        #expect(found.last?.header.length == 20)
    }

    @Test func `an empty datagram holds nothing`() throws {
        #expect(try decoded([]).isEmpty)
    }

    @Test func `the last message needs no padding`() throws {
        var bytes = NetlinkEncoder().encode(.netconf(.init(family: .ipv4, index: 1)))
        bytes += [9, 0, 1, 0, 1]  // An attribute of one byte, unpadded.
        bytes[0] = UInt8(bytes.count)
        #expect(throws: NetlinkDecodeError.self) { try decoded(bytes) }
        bytes[bytes.count - 5] = 5
        bytes[bytes.count - 3] = 99
        #expect(try decoded(bytes).map(\.event) == [.netconf(.init(family: .ipv4, index: 1))])
    }

    @Test(
        arguments: [
            (Array(route.prefix(10)), .truncatedHeader(available: 10)),
            (Array(route.dropLast(4)), .truncatedMessage(length: UInt32(route.count), available: route.count - 4)),
            (route(ofLength: [15, 0, 0, 0]), .invalidLength(15)),
            (route(ofLength: [0, 0, 0, 0]), .invalidLength(0)), ([0, 0, 0, 0, 1], .truncatedHeader(available: 5)),
            (route(ofLength: [255, 255, 255, 255]), .truncatedMessage(length: .max, available: route.count)),
        ] as [([UInt8], NetlinkDecodeError.Fault)]
    )
    func `a damaged header ends the datagram`(bytes: [UInt8], fault: NetlinkDecodeError.Fault) {
        var before: [KernelEvent] = []
        let datagram = Self.route + bytes
        do {
            try NetlinkDecoder(byteOrder: .little).decode(datagram.span.bytes) { before.append($1) }
            Issue.record("accepted")
        } catch {
            #expect(error.fault == fault)
            #expect(error.offset == Self.route.count)
            #expect(error.messageOffset == Self.route.count)
            #expect(error.nextMessageOffset == nil)
        }
        #expect(before == [.route(.init(destination: .all(.ipv4)))])
    }

    /// `ip route` of iproute2 6.1 requests table main and sends the rest of its buffer, too.
    @Test(arguments: [0, 3, 15, 16, 92])
    func `zeros after a message are ignored`(count: Int) throws {
        let request = NetlinkRequests.dump(.routes(.ipv4, table: .main), sequence: 1)
        let found = try decoded(request + Array(repeating: 0, count: count)).map(\.event)
        #expect(found == [.request(.init(subject: .routes(.ipv4, table: .main), isDump: true))])
        #expect(throws: NetlinkDecodeError.self) { try decoded(Array(repeating: 0, count: count + 1)) }
    }

    @Test func `decoding can continue after a malformed message`() throws {
        var malformed = NetlinkMessageBuilder(type: 24)
        malformed.append(bytes: [2, 0, 0])  // Less than struct rtmsg has.
        var end = NetlinkMessageBuilder(type: 3)
        end.append(UInt32(0))
        let datagram = malformed.build() + [0] + end.build()
        var found: [KernelEvent] = []
        do {
            try NetlinkDecoder().decode(datagram.span.bytes) { found.append($1) }
            Issue.record("accepted")
        } catch {
            #expect(
                error.fault == .truncatedBody(required: 12, available: 4)
                    || error.fault == .truncatedBody(required: 12, available: 3)
            )
            #expect(error.messageType == 24)
            let next = try #require(error.nextMessageOffset)
            try NetlinkDecoder().decode(datagram.span.bytes, from: next) { found.append($1) }
        }
        #expect(found == [.done(errno: 0)])
    }

    @Test func `the error describes the fault and its position`() throws {
        var builder = NetlinkMessageBuilder(type: 24)
        builder.append(bytes: [2, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0])
        builder.attribute(4, UInt16(7))  // RTA_OIF is 32 bits wide.
        let error = #expect(throws: NetlinkDecodeError.self) { try decoded(builder.build()) }
        #expect(error?.fault == .shortAttribute("RTA_OIF", required: 4, available: 2))
        #expect(error?.offset == 28)
        #expect(error?.description == "message of type 24 at byte 0: RTA_OIF has 2 bytes, 4 are required (at byte 28)")
    }

    @Test(arguments: [(3, 0), (0, 0), (9, 1)] as [(UInt16, Int)])
    func `an attribute of impossible length is refused`(length: UInt16, excess: Int) {
        var builder = NetlinkMessageBuilder(type: 24)
        builder.append(bytes: [2, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0])
        builder.append(length)
        builder.append(UInt16(6))
        builder.append(UInt32(1))
        let error = #expect(throws: NetlinkDecodeError.self) { try decoded(builder.build()) }
        #expect(error?.fault == .invalidAttributeLength(type: 6, length: length, available: 8))
        #expect(error?.offset == 28)
    }

    @Test func `control messages carry errnos`() throws {
        #expect(try events(control(3, -105)) == [.done(errno: 105)])
        #expect(try events(control(3, 4)) == [.done(errno: 0)])
        #expect(try events(control(2, -101)) == [.error(errno: 101)])
        #expect(try events(control(2, 0)) == [.error(errno: 0)])
        #expect(try events(control(2, .min)) == [.error(errno: .max)])
        #expect(try events(control(1, 0)) == [.ignored])
        #expect(try events(control(4, 0)) == [.overrun])
        #expect(try events(NetlinkMessageBuilder(type: 3).build()) == [.done(errno: 0)])
    }

    private func control(_ type: UInt16, _ value: Int32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: type)
        builder.append(value)
        return builder.build()
    }

    private func events(_ bytes: [UInt8]) throws -> [KernelEvent] {
        try decoded(bytes).map(\.event)
    }

    @Test func `other protocols are ignored`() throws {
        var found: [KernelEvent] = []
        try NetlinkDecoder(protocolNumber: 12).decode((Self.route + control(3, 0)).span.bytes) { found.append($1) }
        #expect(found == [.ignored, .ignored])
    }
}
