import ReachabilityCore
import Testing

struct GenericDecodingTests {
    @Test func `a family has its number and its groups`() throws {
        var builder = NetlinkMessageBuilder(type: 16, flags: .multi)
        builder.append(bytes: [1, 2, 0, 0])
        builder.attribute(2, string: "nl80211")
        builder.attribute(1, UInt16(35))
        builder.attribute(3, UInt32(1))  // CTRL_ATTR_VERSION
        builder.nested(7) { list in
            for (position, group) in [("config", 8), ("mlme", 11)].enumerated() {
                list.nested(UInt16(position + 1)) { entry in
                    entry.attribute(2, UInt32(group.1))
                    entry.attribute(1, string: group.0)
                }
            }
        }
        var family = GenericFamily(name: "nl80211", id: 35)
        family.groups = ["config": 8, "mlme": 11]
        #expect(try events(builder.build()) == [.family(family)])
    }

    @Test(arguments: [(nil, 35), ("", 35), ("nl80211", nil), ("nl80211", 15)] as [(String?, UInt16?)])
    func `a family without name or number is ignored`(name: String?, id: UInt16?) throws {
        var builder = NetlinkMessageBuilder(type: 16)
        builder.append(bytes: [1, 2, 0, 0])
        if let name { builder.attribute(2, string: name) }
        if let id { builder.attribute(1, id) }
        #expect(try events(builder.build()) == [.ignored])
    }

    /// `CTRL_CMD_DELFAMILY`, `CTRL_CMD_NEWMCAST_GRP`.
    @Test(arguments: [2, 7] as [UInt8])
    func `other commands of the controller are ignored`(command: UInt8) throws {
        var builder = NetlinkMessageBuilder(type: 16)
        builder.append(bytes: [command, 2, 0, 0])
        builder.attribute(2, string: "nl80211")
        builder.attribute(1, UInt16(35))
        #expect(try events(builder.build()) == [.ignored])
    }

    @Test func `the request for families names no family`() throws {
        let bytes = NetlinkRequests.families(sequence: 9)
        #expect(bytes == [20, 0, 0, 0, 16, 0, 1, 3, 9, 0, 0, 0, 0, 0, 0, 0, 3, 2, 0, 0])
        #expect(try events(bytes) == [.familiesRequested])
    }

    @Test func `requests to other families are ignored`() throws {
        let interface = NetlinkRequests.wirelessInterface(3, family: 0x1C, sequence: 1)
        #expect(try events(interface) == [.ignored])
        #expect(Array(interface[4..<8]) == [0x1C, 0, 1, 0])
        #expect(Array(interface[16...]) == [5, 1, 0, 0, 8, 0, 3, 0, 3, 0, 0, 0])
        let stations = NetlinkRequests.wirelessStations(3, family: 0x1C, sequence: 1)
        #expect(try events(stations) == [.ignored])
        #expect(Array(stations[4..<8]) == [0x1C, 0, 1, 3])
        #expect(Array(stations[16...]) == [17, 1, 0, 0, 8, 0, 3, 0, 3, 0, 0, 0])
    }

    @Test func `the request for scan results starts no scan`() throws {
        let scan = NetlinkRequests.wirelessScan(3, family: 0x1C, sequence: 1)
        #expect(try events(scan) == [.ignored])
        // NL80211_CMD_GET_SCAN, not NL80211_CMD_TRIGGER_SCAN.
        #expect(Array(scan[4..<8]) == [0x1C, 0, 1, 3])
        #expect(Array(scan[16...]) == [32, 1, 0, 0, 8, 0, 3, 0, 3, 0, 0, 0])
    }

    @Test func `messages of unannounced families are ignored`() throws {
        let message = KernelEvent.wireless(.init(.disconnect, index: 3))
        let bytes = NetlinkEncoder(families: .some).encode(message)
        var found: [KernelEvent] = []
        try NetlinkDecoder(protocolNumber: NetlinkDecoder.generic).decode(bytes.span.bytes) { found.append($1) }
        #expect(found == [.ignored])
        #expect(try events(bytes) == [message])
        #expect(try events(NetlinkEncoder().encode(message)) == [.ignored])
    }

    @Test func `a message shorter than its header is refused`() throws {
        var builder = NetlinkMessageBuilder(type: 16)
        builder.append(bytes: [1, 2, 0])
        #expect(throws: NetlinkDecodeError.self) { try events(builder.build()) }
    }

    private func events(_ bytes: [UInt8]) throws -> [KernelEvent] {
        try decoded(bytes, .little, of: NetlinkDecoder.generic).map(\.event)
    }
}
