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

    @Test
    func `a team's options are decoded from a reply of Linux 6.1`() throws {
        var builder = NetlinkMessageBuilder(type: GenericFamilies.some.team, flags: .multi)
        builder.append(bytes: [2, 1, 0, 0])
        builder.attribute(1, UInt32(9))  // TEAM_ATTR_TEAM_IFINDEX
        builder.nested(2, flagged: false) { list in
            list.nested(1, flagged: false) { option in
                option.attribute(1, string: "mode")
                option.attribute(3, UInt8(5))  // NLA_STRING
                option.attribute(4, string: "activebackup")
            }
            list.nested(1, flagged: false) { option in
                option.attribute(1, string: "activeport")
                option.attribute(2)  // TEAM_ATTR_OPTION_CHANGED
                option.attribute(3, UInt8(3))  // NLA_U32
                option.attribute(4, UInt32(3))
            }
            for (port, isEnabled) in [(2, false), (3, true)] {
                list.nested(1, flagged: false) { option in
                    option.attribute(1, string: "enabled")
                    option.attribute(6, UInt32(port))
                    option.attribute(3, UInt8(6))  // NLA_FLAG
                    if isEnabled { option.attribute(4) }
                }
            }
            list.nested(1, flagged: false) { option in
                option.attribute(1, string: "enabled")
                option.attribute(5)  // TEAM_ATTR_OPTION_REMOVED
                option.attribute(6, UInt32(4))
            }
        }
        var message = TeamMessage(index: 9)
        message.mode = "activebackup"
        message.activePort = 3
        message.enabledPorts = [2: false, 3: true]
        #expect(try events(builder.build()) == [.team(message)])
        let request = NetlinkRequests.teamOptions(9, family: 0x1C, sequence: 1)
        #expect(Array(request[4..<8]) == [0x1C, 0, 1, 0])
        #expect(Array(request[16...]) == [2, 1, 0, 0, 8, 0, 1, 0, 9, 0, 0, 0])
    }

    @Test
    func `a team's ports and another command's message are not read as options`() throws {
        var builder = NetlinkMessageBuilder(type: GenericFamilies.some.team, flags: .multi)
        builder.append(bytes: [3, 1, 0, 0])
        builder.attribute(1, UInt32(9))
        #expect(try events(builder.build()) == [.ignored])
    }

    @Test
    func `an L2TP session and its tunnel are decoded, of either address family`() throws {
        var session = NetlinkMessageBuilder(type: GenericFamilies.some.l2tp, flags: .multi)
        session.append(bytes: [8, 1, 0, 0])
        session.attribute(9, UInt32(7))  // L2TP_ATTR_CONN_ID
        session.attribute(11, UInt32(1))  // L2TP_ATTR_SESSION_ID
        session.attribute(8, string: "l2tpeth0")
        #expect(try events(session.build()) == [.l2tp(.init(interface: "l2tpeth0", tunnel: 7))])
        let (source, remote) = (IPAddress(ipv4: 0xC633_6402), IPAddress(ipv4: 0xCB00_7109))
        var tunnel = NetlinkMessageBuilder(type: GenericFamilies.some.l2tp)
        tunnel.append(bytes: [4, 1, 0, 0])
        tunnel.attribute(9, UInt32(7))
        tunnel.attribute(24, source)
        tunnel.attribute(25, remote)
        var message = L2TPMessage(tunnel: 7)
        (message.source, message.remote) = (source, remote)
        #expect(try events(tunnel.build()) == [.l2tp(message)])
        let far = try #require(IPAddress("2001:db8::9"))
        tunnel = .init(type: GenericFamilies.some.l2tp)
        tunnel.append(bytes: [4, 1, 0, 0])
        tunnel.attribute(32, far)
        message = .init()
        message.remote = far
        #expect(try events(tunnel.build()) == [.l2tp(message)])
    }

    @Test
    func `the requests for L2TP sessions and tunnels are encoded`() {
        let sessions = NetlinkRequests.l2tpSessions(family: 0x1D, sequence: 1)
        #expect(Array(sessions[4..<8]) == [0x1D, 0, 1, 3])
        #expect(Array(sessions[16...]) == [8, 1, 0, 0])
        let tunnel = NetlinkRequests.l2tpTunnel(7, family: 0x1D, sequence: 1)
        #expect(Array(tunnel[4..<8]) == [0x1D, 0, 1, 0])
        #expect(Array(tunnel[16...]) == [4, 1, 0, 0, 8, 0, 9, 0, 7, 0, 0, 0])
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
