import ReachabilityCore
import Testing

struct WirelessDecodingTests {
    private let accessPoint: [UInt8] = [2, 0, 0, 0, 1, 0]

    /// Linux 6.1's reply to `NL80211_CMD_GET_INTERFACE` of an associated station.
    @Test func `a reply about an interface has its mode, radio, network and frequency`() throws {
        let message = try wireless(7) { builder in
            builder.attribute(3, UInt32(5))
            builder.attribute(4, string: "wlan1")
            builder.attribute(1, UInt32(1))
            builder.attribute(5, UInt32(2))
            builder.attribute(153, UInt64(0x1_0000_0001))
            builder.attribute(6, bytes: [2, 0, 0, 0, 0, 0])
            builder.attribute(46, UInt32(5))
            builder.attribute(38, UInt32(2_412))
            builder.attribute(52, bytes: Array("office".utf8))
        }
        var expected = WirelessMessage(.newInterface, index: 5)
        expected.mode = .station
        expected.radio = 1
        expected.address = [2, 0, 0, 0, 0, 0]
        expected.frequency = 2_412
        expected.ssid = Array("office".utf8)
        #expect(message == expected)
    }

    @Test(
        arguments: [([(13, 0xD0)], -48), ([(7, 0xC4), (13, 0xD0)], -60), ([(13, 0xD0), (7, 0xC4)], -60), ([], nil)]
            as [([(UInt16, UInt8)], Int8?)]
    )
    func `a station's signal is its last or its average`(values: [(UInt16, UInt8)], signal: Int8?) throws {
        let message = try wireless(19) { builder in
            builder.attribute(3, UInt32(5))
            builder.nested(21) { station in
                station.attribute(1, UInt32(20))
                for (type, value) in values { station.attribute(type, value) }
            }
        }
        #expect(message?.signal == signal)
    }

    @Test(
        arguments: [
            (37, 0xB0, 28, 13), (38, 0x10, 26, 17), (39, 0xC0, 24, nil), (40, 0xA0, 24, nil),
        ] as [(UInt8, UInt8, Int, UInt16?)]
    )
    func `a frame contains the access point and the status`(
        command: UInt8,
        control: UInt8,
        statusOffset: Int,
        status: UInt16?
    ) throws {
        var frame = [control] + [UInt8](repeating: 0xEE, count: 29)
        frame.replaceSubrange(16..<22, with: accessPoint)
        if let status { frame.replaceSubrange(statusOffset..<statusOffset + 2, with: [UInt8(status), 0]) }
        for order in ByteOrder.allCases {
            let message = try wireless(command, order) { builder in
                builder.attribute(3, UInt32(5))
                builder.attribute(51, bytes: frame)
            }
            #expect(message?.address == accessPoint)
            #expect(message?.status == status)
        }
    }

    @Test func `a frame that ends before the status has none`() throws {
        var frame = [UInt8](repeating: 0, count: 29)
        frame.replaceSubrange(16..<22, with: accessPoint)
        let message = try wireless(37) { builder in
            builder.attribute(3, UInt32(5))
            builder.attribute(51, bytes: frame)
        }
        #expect(message?.address == accessPoint)
        #expect(message?.status == nil)
    }

    @Test func `a step without a response has timed out`() throws {
        let message = try wireless(37) { builder in
            builder.attribute(3, UInt32(5))
            builder.attribute(65)
            builder.attribute(6, bytes: accessPoint)
        }
        #expect(message?.hasTimedOut == true)
        #expect(message?.address == accessPoint)
    }

    @Test func `an interface without an index is ignored`() throws {
        #expect(try wireless(7) { $0.attribute(5, UInt32(10)) } == nil)
        #expect(try wireless(7) { $0.attribute(3, UInt32(0)) } == nil)
    }

    /// `NEW_WIPHY`, `FRAME`, `NOTIFY_CQM`, `CH_SWITCH_NOTIFY`.
    @Test(arguments: [3, 59, 64, 88] as [UInt8])
    func `other commands are ignored`(command: UInt8) throws {
        #expect(try wireless(command) { $0.attribute(3, UInt32(5)) } == nil)
    }

    @Test(
        arguments: [
            (52, 33, .longAttribute("NL80211_ATTR_SSID", limit: 32, available: 33)),
            (6, 5, .shortAttribute("NL80211_ATTR_MAC", required: 6, available: 5)),
            (6, 8, .longAttribute("NL80211_ATTR_MAC", limit: 6, available: 8)),
            (51, 23, .shortAttribute("NL80211_ATTR_FRAME", required: 24, available: 23)),
            (3, 2, .shortAttribute("NL80211_ATTR_IFINDEX", required: 4, available: 2)),
            (72, 1, .shortAttribute("NL80211_ATTR_STATUS_CODE", required: 2, available: 1)),
        ] as [(UInt16, Int, NetlinkDecodeError.Fault)]
    )
    func `a value of an impossible length is refused`(
        type: UInt16,
        length: Int,
        fault: NetlinkDecodeError.Fault
    ) throws {
        let error = #expect(throws: NetlinkDecodeError.self) {
            try wireless(39) { $0.attribute(type, bytes: [UInt8](repeating: 1, count: length)) }
        }
        #expect(error?.fault == fault)
        #expect(error?.offset == 20)
    }

    @Test func `an SSID has 32 bytes of any kind at most`() throws {
        for ssid in [[], [UInt8](repeating: 0, count: 32), [0xFF, 0x0A, 0x22]] as [[UInt8]] {
            let message = try wireless(7) { builder in
                builder.attribute(3, UInt32(5))
                builder.attribute(52, bytes: ssid)
            }
            #expect(message?.ssid == ssid)
        }
    }

    @Test(
        arguments: [
            ([1, 2, 9, 9, 0, 3, 0x61, 0xFF, 0x62, 0, 1, 0x63], [0x61, 0xFF, 0x62]), ([0, 0], []), ([], nil),
            ([1, 2, 9], nil), ([0, 3, 0x61, 0x62], nil), ([0], nil), ([7, 0, 0, 1, 0x61], [0x61]),
            ([0, 33] + [UInt8](repeating: 1, count: 33), nil),
        ] as [([UInt8], [UInt8]?)]
    )
    func `a scan result describes an access point`(elements: [UInt8], ssid: [UInt8]?) throws {
        let message = try wireless(34) { builder in
            builder.attribute(3, UInt32(5))
            builder.nested(47) { network in
                network.attribute(1, bytes: accessPoint)
                network.attribute(2, UInt32(5_180))
                network.attribute(6, bytes: elements)
                network.attribute(7, UInt32(bitPattern: -5_450))
                network.attribute(9, UInt32(1))
            }
        }
        #expect(message?.address == accessPoint)
        #expect(message?.frequency == 5_180)
        #expect(message?.ssid == ssid)
        #expect(message?.signal == -54)
        #expect(message?.isOwnNetwork == true)
    }

    @Test(arguments: [nil, 0, 2] as [UInt32?])
    func `another access point of a scan is not the interface's own`(status: UInt32?) throws {
        let message = try wireless(34) { builder in
            builder.attribute(3, UInt32(5))
            builder.nested(47) { if let status { $0.attribute(9, status) } }
        }
        #expect(message?.isOwnNetwork == false)
    }

    private func wireless(
        _ command: UInt8,
        _ order: ByteOrder = .host,
        _ body: (inout NetlinkMessageBuilder) -> Void
    ) throws -> WirelessMessage? {
        var builder = NetlinkMessageBuilder(type: 0x1C, byteOrder: order)
        builder.append(bytes: [command, 1, 0, 0])
        body(&builder)
        let events = try decoded(builder.build(), order, of: NetlinkDecoder.generic).map(\.event)
        guard case .wireless(let message) = events.first else { return nil }
        return message
    }
}
