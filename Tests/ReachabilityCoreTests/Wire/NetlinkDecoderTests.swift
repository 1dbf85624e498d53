import ReachabilityCore
import Testing

struct NetlinkDecoderTests {
    @Test func `the later of two attributes counts`() throws {
        let route = try route { builder in
            builder.attribute(6, UInt32(100))
            builder.attribute(6, UInt32(200))
        }
        #expect(route.metric == 200)
    }

    @Test func `an attribute's flags are not part of its type`() throws {
        let route = try route { $0.attribute(6 | 0x8000 | 0x4000, UInt32(100)) }
        #expect(route.metric == 100)
    }

    @Test func `unknown attributes are ignored`() throws {
        let route = try route { builder in
            builder.attribute(999, bytes: [1, 2, 3])
            builder.attribute(22)  // RTA_ENCAP
            builder.attribute(6, UInt32(100))
        }
        #expect(route.metric == 100)
    }

    @Test func `a table above 255 is read from its attribute`() throws {
        #expect(try route { _ in }.table == .main)
        #expect(try route { $0.attribute(15, UInt32(1000)) }.table == .init(rawValue: 1000))
    }

    @Test(
        arguments: [(0, nil), (-1, .zero), (.min, .zero), (1, .milliseconds(10)), (180_000, .seconds(1800))]
            as [(Int32, Duration?)]
    )
    func `a lifetime counts hundredths of a second`(ticks: Int32, lifetime: Duration?) throws {
        let route = try route { builder in
            builder.nested(12, flagged: false) { cache in
                cache.append(UInt64(0))
                cache.append(ticks)
                cache.append(bytes: repeatElement(0, count: 20))
            }
        }
        #expect(route.lifetime == lifetime)
    }

    @Test func `a gateway may be of the other family`() throws {
        let gateway = try #require(IPAddress("fe80::1"))
        let route = try route { builder in
            builder.attribute(4, UInt32(3))
            builder.nested(18, flagged: false) { via in
                via.append(UInt16(10))
                via.append(gateway)
            }
        }
        #expect(route.nextHops == [.init(interface: 3, gateway: gateway)])
    }

    @Test func `an RTA_VIA of an unknown family is ignored`() throws {
        let route = try route { builder in
            builder.attribute(4, UInt32(3))
            builder.nested(18, flagged: false) { $0.append(UInt16(28)) }
        }
        #expect(route.nextHops == [.init(interface: 3)])
    }

    @Test(
        arguments: [
            (24, [28, 20, 0, 0, 254, 0, 0, 1]), (25, [28, 20, 0, 0, 254, 0, 0, 1]),  // AF_MPLS
            (24, [128, 0, 0, 0, 254, 0, 0, 1]), (24, [129, 0, 0, 0, 254, 0, 0, 1]),  // RTNL_FAMILY_IPMR, IP6MR
            (32, [128, 0, 0, 0, 254, 0, 0, 1]), (33, [129, 0, 0, 0, 254, 0, 0, 1]),
            (28, [7, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]), (20, [28, 0, 0, 0, 1, 0, 0, 0]), (80, [28, 0, 0, 0]),
            (36, []), (16_000, []),
        ] as [(UInt16, [UInt8])]
    )
    func `messages of other families are ignored`(type: UInt16, body: [UInt8]) throws {
        var builder = NetlinkMessageBuilder(type: type)
        builder.append(bytes: body + Array(repeating: 0, count: 16))
        #expect(try decoded(builder.build()).map(\.event) == [.ignored])
    }

    @Test func `a bridge's message about a port keeps its family`() throws {
        var builder = NetlinkMessageBuilder(type: 16)
        builder.append(bytes: [7, 0, 1, 0, 5, 0, 0, 0] + Array(repeating: 0, count: 8))
        // IFLA_AF_SPEC, flat here: what would be AF_INET6 elsewhere is none.
        builder.nested(26) { $0.attribute(10, bytes: [1, 0, 0]) }
        var link = LinkMessage(index: 5)
        link.family = 7
        link.hardwareType = .ethernet
        #expect(try decoded(builder.build(), .little).map(\.event) == [.link(link)])
    }

    /// Container managers request tables of other namespaces; a capture contains the replies.
    @Test(arguments: [(16, 16, 46), (17, 16, 46), (20, 8, 10), (21, 8, 10)] as [(UInt16, Int, UInt16)])
    func `messages about another namespace are ignored`(type: UInt16, bodySize: Int, attribute: UInt16) throws {
        var builder = NetlinkMessageBuilder(type: type)
        builder.append(bytes: [2] + Array(repeating: 0, count: bodySize - 1))
        #expect(try decoded(builder.build()).map(\.event) != [.ignored])
        builder.attribute(attribute, UInt32(3))
        #expect(try decoded(builder.build()).map(\.event) == [.ignored])
    }

    @Test func `a proxy entry is not a neighbour`() throws {
        let address = try #require(IPAddress("192.0.2.1"))
        for (flags, expected) in [
            (0, KernelEvent.neighbour(.init(index: 3, address: address, state: .stale))), (8, .ignored),
        ] as [(UInt8, KernelEvent)] {
            var builder = NetlinkMessageBuilder(type: 28)
            builder.append(bytes: [2, 0, 0, 0])
            builder.append(Int32(3))
            builder.append(NeighbourState.stale.rawValue)
            builder.append(bytes: [flags, 1])
            builder.attribute(1, address)
            #expect(try decoded(builder.build()).map(\.event) == [expected])
        }
    }

    @Test(
        arguments: [
            (2, 33, 0, "rtm_dst_len"), (2, 0, 33, "rtm_src_len"), (10, 129, 0, "rtm_dst_len"),
            (10, 255, 0, "rtm_dst_len"),
        ] as [(UInt8, UInt8, UInt8, String)]
    )
    func `a prefix longer than an address is refused`(family: UInt8, destination: UInt8, source: UInt8, name: String) {
        var builder = NetlinkMessageBuilder(type: 24)
        builder.append(bytes: [family, destination, source, 0, 254, 0, 0, 1, 0, 0, 0, 0])
        let error = #expect(throws: NetlinkDecodeError.self) { try decoded(builder.build()) }
        #expect(error?.fault == .invalidPrefixLength(name, max(destination, source)))
    }

    @Test(arguments: [(7, 0), (9, 0), (200, 0), (8, 1), (16, -8)] as [(UInt16, Int)])
    func `a next hop of impossible length is refused`(length: UInt16, rest: Int) throws {
        let body = { (builder: inout NetlinkMessageBuilder) in
            builder.nested(9, flagged: false) { list in
                list.append(length)
                list.append(bytes: [0, 0, 3, 0, 0, 0])
            }
        }
        guard length != 8 else {
            #expect(try route(body).nextHops == [.init(interface: 3)])
            return
        }
        let error = #expect(throws: NetlinkDecodeError.self) { try route(body) }
        #expect(error?.fault == .invalidEntryLength(attribute: "RTA_MULTIPATH", length: length, available: 8))
    }

    @Test func `routes that are not default-like are skipped by their prefix length`() throws {
        for (length, isWanted) in [(0, true), (4, true), (5, false), (32, false)] as [(UInt8, Bool)] {
            var builder = NetlinkMessageBuilder(type: 24)
            builder.append(bytes: [2, length, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0])
            builder.append(UInt32(0))  // An invalid attribute, which only a decoder of attributes notices.
            var found: [KernelEvent] = []
            let bytes = builder.build()
            let error = Result { () throws(NetlinkDecodeError) in
                try NetlinkDecoder(defaultLikeRoutesOnly: true).decode(bytes.span.bytes) { found.append($1) }
            }
            if isWanted {
                #expect(throws: NetlinkDecodeError.self) { try error.get() }
            } else {
                #expect(found == [.ignored])
            }
        }
    }

    /// Returns the route of a message: an IPv4 default route in table main with the given attributes.
    private func route(_ attributes: (inout NetlinkMessageBuilder) -> Void) throws -> RouteMessage {
        var builder = NetlinkMessageBuilder(type: 24, byteOrder: .little)
        builder.append(bytes: [2, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0])
        attributes(&builder)
        let event = try decoded(builder.build(), .little).first?.event
        guard case .route(let route) = event else { throw Unexpected(event: event) }
        return route
    }
}

/// An event of an unexpected kind.
struct Unexpected: Error {
    var event: KernelEvent?
}
