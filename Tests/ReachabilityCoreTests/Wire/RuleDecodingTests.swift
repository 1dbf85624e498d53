import ReachabilityCore
import Testing

struct RuleDecodingTests {
    @Test func `selectors that match anything are nil`() throws {
        let rule = try rule { builder in
            builder.attribute(14, UInt32.max)  // FRA_SUPPRESS_PREFIXLEN
            builder.attribute(13, UInt32.max)  // FRA_SUPPRESS_IFGROUP
            builder.attribute(22, UInt8(0))  // FRA_IP_PROTO
            builder.attribute(20, bytes: [0, 0, 0, 0, 255, 255, 255, 255])  // FRA_UID_RANGE
        }
        #expect(rule == expected { _ in })
    }

    @Test func `a range that ends before its start is refused`() throws {
        #expect(try rule { $0.attribute(20, bytes: [5, 0, 0, 0, 5, 0, 0, 0]) }.users == 5...5)
        let error = #expect(throws: NetlinkDecodeError.self) {
            try rule { $0.attribute(20, bytes: [6, 0, 0, 0, 5, 0, 0, 0]) }
        }
        #expect(error?.fault == .invalidRange("FRA_UID_RANGE"))
    }

    @Test func `a mark without a mask is compared in full`() throws {
        #expect(try rule { $0.attribute(10, UInt32(5)) }.mark == .init(value: 5, mask: .max))
        #expect(try rule { $0.attribute(10, UInt32(0)) }.mark == .init(value: 0, mask: 0))
        let masked = try rule { builder in
            builder.attribute(16, UInt32(7))
            builder.attribute(10, UInt32(5))
        }
        #expect(masked.mark == .init(value: 5, mask: 7))
    }

    @Test func `masks of newer kernels are read`() throws {
        let rule = try rule { builder in
            builder.attribute(25, UInt8(10))
            builder.attribute(30, UInt8(0x3C))
            builder.attribute(26, networkOrder: UInt32(0x12345))
            builder.attribute(27, networkOrder: UInt32(0xFFFF0))
            builder.attribute(23, bytes: [80, 0, 80, 0])
            builder.attribute(28, UInt16(0xFFFF))
            builder.attribute(24, bytes: [80, 0, 90, 0])
            builder.attribute(29, UInt16(0))
        }
        #expect(
            rule
                == expected { rule in
                    rule.dscp = .init(value: 10, mask: 0x3C)
                    rule.flowLabel = .init(value: 0x12345, mask: 0xFFFF0)
                    rule.sourcePorts = .init(first: 80, last: 80, mask: 0xFFFF)
                    rule.destinationPorts = .init(first: 80, last: 90)
                }
        )
        #expect(try self.rule { $0.attribute(25, UInt8(10)) }.dscp == .init(value: 10, mask: 0x3F))
    }

    private func expected(_ change: (inout RuleMessage) -> Void) -> RuleMessage {
        var rule = RuleMessage(family: .ipv4)
        rule.table = .main
        change(&rule)
        return rule
    }

    /// Returns the rule of a message: a lookup in table main with the given attributes.
    private func rule(_ attributes: (inout NetlinkMessageBuilder) -> Void) throws -> RuleMessage {
        var builder = NetlinkMessageBuilder(type: 32, byteOrder: .little)
        builder.append(bytes: [2, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0])
        attributes(&builder)
        let event = try decoded(builder.build(), .little).first?.event
        guard case .rule(let rule) = event else { throw Unexpected(event: event) }
        return rule
    }
}
