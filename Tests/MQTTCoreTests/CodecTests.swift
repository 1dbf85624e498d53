import MQTTCore
import Testing

@Suite("MQTT packets")
struct CodecTests {
    static let properties: MQTTProperties = {
        var properties = MQTTProperties()
        properties[number: .messageExpiryInterval] = 60
        properties[text: .contentType] = "application/json"
        properties[data: .correlationData] = [1, 0]
        properties.addUser("a", "1")
        properties.addUser("a", "2")
        return properties
    }()

    static let reasonProperties: MQTTProperties = {
        var properties = MQTTProperties()
        properties[text: .reasonString] = "why"
        return properties
    }()

    static let connect: MQTTConnect = {
        var connect = MQTTConnect(clientID: "node", keepAlive: 60, userName: "user", password: [0, 1])
        connect.will = .init(topic: "a/link", payload: [7], isRetained: true)
        return connect
    }()

    /// Packets that both versions have.
    static let common: [MQTTPacket] = [
        .connect(connect), .connect(.init(clientID: "")), .connack(.init(hasSession: true, reason: .success)),
        .connack(.init(hasSession: false, reason: .notAuthorized)),
        .publish(.init(topic: "a/b", payload: [1, 2], qos: .atMostOnce, isRetained: true)),
        .publish(.init(topic: "a", payload: [], qos: .atLeastOnce, isDuplicate: true, id: 0xFFFF)),
        .puback(.init(id: 1)), .pubrec(.init(id: 2)), .pubrel(.init(id: 3)), .pubcomp(.init(id: 4)),
        .subscribe(.init(id: 5, [.init("a/+/#", qos: .atLeastOnce), .init("#", qos: .atMostOnce)])),
        .suback(.init(id: 5, [.success, .unspecified])), .unsubscribe(.init(id: 6, ["a", "b/#"])), .pingreq, .pingresp,
        .disconnect(.init()),
    ]

    /// Packets of MQTT 5.
    static let version5: [MQTTPacket] = {
        var will = connect
        will.will?.properties[number: .willDelayInterval] = 10
        will.properties[number: .sessionExpiryInterval] = 3600
        will.properties[number: .receiveMaximum] = 20
        var connack = MQTTConnAck(hasSession: false, reason: .success)
        connack.properties[number: .serverKeepAlive] = 30
        connack.properties[number: .maximumQoS] = 1
        var subscribe = MQTTSubscribe(id: 1, [.init("a", qos: .exactlyOnce, excludesOwn: true, retained: .never)])
        subscribe.properties[number: .subscriptionIdentifier] = 268_435_455
        var auth = MQTTNotice(.init(rawValue: 0x18))
        auth.properties[text: .authenticationMethod] = "SCRAM"
        return [
            .connect(will), .connack(connack),
            .publish(.init(topic: "a", payload: [1], qos: .atLeastOnce, id: 1, properties: properties)),
            .puback(.init(id: 1, reason: .quotaExceeded)),
            .pubrec(.init(id: 1, reason: .success, properties: reasonProperties)),
            .subscribe(subscribe), .unsuback(.init(id: 1, [.success], properties: reasonProperties)),
            .disconnect(.init(.sessionTakenOver, properties: reasonProperties)), .auth(auth),
        ]
    }()

    static let all: [(MQTTPacket, MQTTVersion)] =
        common.flatMap { packet in MQTTVersion.allCases.map { (packet, $0) } } + version5.map { ($0, .v5) }
        + [(.unsuback(.init(id: 9, [])), .v311)]

    @Test("A packet that is encoded and decoded is the same", arguments: all)
    func roundTrip(packet: MQTTPacket, version: MQTTVersion) throws {
        var decoder = MQTTDecoder(version: version)
        decoder.append(try packet.encoded(as: version))
        #expect(try decoder.next() == packet)
        #expect(try decoder.next() == nil)
    }

    @Test("Packets do not depend on how their bytes are divided")
    func pieces() throws {
        let packets = Self.common + Self.version5
        let bytes = try packets.flatMap { try $0.encoded(as: .v5) }
        for size in [1, 2, 3, 7, bytes.count] {
            var decoder = MQTTDecoder(version: .v5)
            var decoded: [MQTTPacket] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                decoder.append(bytes[start..<min(start + size, bytes.count)])
                while let packet = try decoder.next() { decoded.append(packet) }
            }
            #expect(decoded == packets)
        }
    }

    @Test("The bytes of CONNECT are those of the specification")
    func bytes() throws {
        let expected: [UInt8] = [0x10, 15, 0, 4, 77, 81, 84, 84, 5, 2, 0, 60, 0, 0, 2, 97, 98]
        #expect(try MQTTPacket.connect(.init(clientID: "ab")).encoded(as: .v5) == expected)
    }

    @Test("A refusal of MQTT 5 in the form of MQTT 3.1.1 names the reason")
    func oldRefusal() throws {
        var decoder = MQTTDecoder(version: .v5)
        decoder.append([0x20, 2, 0, 1] as [UInt8])
        #expect(try decoder.next() == .connack(.init(hasSession: false, reason: .unsupportedProtocolVersion)))
    }

    @Test("A packet over the limit is refused as soon as its length is known")
    func limit() throws {
        var decoder = MQTTDecoder(version: .v5, maximumPacketSize: 100)
        decoder.append([0x30, 99] as [UInt8])
        let fault = #expect(throws: MQTTFault.self) { try decoder.next() }
        #expect(fault?.reason == .packetTooLarge)
        #expect(fault?.description == "a packet has 101 bytes; the limit is 100")
    }

    @Test("What is no broker is noticed by the first byte, however long the packet claims to be")
    func noBroker() {
        var decoder = MQTTDecoder(version: .v5)
        decoder.append(Array("HTTP/1.1 400".utf8))
        #expect(throws: MQTTFault.self) { try decoder.next() }
    }

    /// Invalid bytes from a broker, with the statement that they break and the reason of the fault.
    static let invalid: [(statement: String, bytes: [UInt8], reason: MQTTReasonCode)] = [
        ("MQTT-1.5.4-1", [0x30, 4, 0, 1, 0xFF, 0], .malformedPacket),
        ("MQTT-1.5.4-1", [0x30, 6, 0, 3, 0xED, 0xA0, 0x80, 0], .malformedPacket),
        ("MQTT-1.5.4-2", [0x30, 4, 0, 1, 0, 0], .malformedPacket),
        ("MQTT-1.5.5-1", [0x30, 0x84, 0x80, 0, 0, 1, 97, 0], .malformedPacket),
        ("MQTT-1.5.5-1", [0xD0, 0x80, 0x80, 0x80, 0x80, 1], .malformedPacket),
        ("MQTT-2.1.3-1", [0x41, 2, 0, 1], .malformedPacket),
        ("MQTT-2.1.3-1", [0x00, 0], .malformedPacket),
        ("2.2.1", [0x40, 2, 0, 0], .malformedPacket),
        ("MQTT-3.2.2-1", [0x20, 3, 2, 0, 0], .malformedPacket),
        ("MQTT-3.2.2-6", [0x20, 3, 1, 0x87, 0], .protocolError),
        ("MQTT-3.3.1-2", [0x38, 4, 0, 1, 97, 0], .malformedPacket),
        ("MQTT-3.3.1-4", [0x36, 6, 0, 1, 97, 0, 1, 0], .malformedPacket),
        ("MQTT-3.3.2-1", [0x30, 3, 0, 0, 0], .malformedPacket),
        ("MQTT-3.3.2-2", [0x30, 4, 0, 1, 35, 0], .malformedPacket),
        ("MQTT-3.3.2-8", [0x30, 7, 0, 1, 97, 3, 0x23, 0, 0], .protocolError),
        ("MQTT-3.3.2-14", [0x30, 8, 0, 1, 97, 4, 0x08, 0, 1, 43], .protocolError),
        ("2.2.2.2", [0x30, 6, 0, 1, 97, 2, 0x24, 1], .protocolError),
        ("2.2.2.2", [0x30, 6, 0, 1, 97, 2, 0x7E, 1], .malformedPacket),
        ("2.2.2.2", [0x20, 9, 0, 0, 6, 0x21, 0, 5, 0x21, 0, 5], .protocolError),
        ("3.2.2.3.3", [0x20, 6, 0, 0, 3, 0x21, 0, 0], .protocolError),
        ("3.2.2.3.4", [0x20, 5, 0, 0, 2, 0x24, 2], .protocolError),
        ("3.2.2.3.6", [0x20, 8, 0, 0, 5, 0x27, 0, 0, 0, 0], .protocolError),
        ("3.9.3", [0x90, 3, 0, 1, 0], .malformedPacket),
        ("3.13", [0xD0, 1, 0], .malformedPacket),
    ]

    @Test("Invalid bytes are refused with the reason for DISCONNECT", arguments: invalid)
    func refusal(statement: String, bytes: [UInt8], reason: MQTTReasonCode) throws {
        var decoder = MQTTDecoder(version: .v5)
        decoder.append(bytes)
        let fault = #expect(throws: MQTTFault.self, "\(statement)") { try decoder.next() }
        #expect(fault?.reason == reason, "\(statement): \(fault?.description ?? "")")
    }

    /// Packets that a client must not send.
    static let unsendablePackets: [(statement: String, packet: MQTTPacket, version: MQTTVersion)] = [
        ("MQTT-1.5.4-2", .connect(.init(clientID: "a\0")), .v5),
        ("MQTT-2.2.1-3", .publish(.init(topic: "a", payload: [], qos: .atLeastOnce)), .v5),
        ("MQTT-2.2.1-3", .subscribe(.init(id: 0, [.init("a", qos: .atMostOnce)])), .v5),
        ("MQTT-3.3.1-2", .publish(.init(topic: "a", payload: [], qos: .atMostOnce, isDuplicate: true)), .v5),
        ("MQTT-3.3.2-2", .publish(.init(topic: "a/+", payload: [], qos: .atMostOnce)), .v5),
        ("MQTT-3.8.3-2", .subscribe(.init(id: 1, [])), .v5),
        ("MQTT-3.8.3-4", .subscribe(.init(id: 1, [.init("$share/a/b", qos: .atMostOnce, excludesOwn: true)])), .v5),
        ("MQTT-4.8.2-1", .subscribe(.init(id: 1, [.init("$share//a", qos: .atMostOnce)])), .v5),
        ("MQTT-4.8.2-2", .subscribe(.init(id: 1, [.init("$share/+/a", qos: .atMostOnce)])), .v5),
        ("MQTT-4.8.2-2", .subscribe(.init(id: 1, [.init("$share/a", qos: .atMostOnce)])), .v5),
        ("MQTT-3.10.3-2", .unsubscribe(.init(id: 1, [])), .v5),
        ("MQTT-4.7.1-1", .subscribe(.init(id: 1, [.init("a/#/b", qos: .atMostOnce)])), .v5),
        ("MQTT-4.7.1-1", .subscribe(.init(id: 1, [.init("a#", qos: .atMostOnce)])), .v5),
        ("MQTT-4.7.1-2", .subscribe(.init(id: 1, [.init("a+/b", qos: .atMostOnce)])), .v5),
        ("MQTT-4.7.1-2", .subscribe(.init(id: 1, [.init("a/+\u{301}", qos: .atMostOnce)])), .v5),
        ("MQTT-4.7.3-1", .subscribe(.init(id: 1, [.init("", qos: .atMostOnce)])), .v5),
        ("MQTT-4.7.3-2", .publish(.init(topic: "a\0b", payload: [], qos: .atMostOnce)), .v5),
        (
            "MQTT-4.7.3-3",
            .publish(.init(topic: String(repeating: "a", count: 65_536), payload: [], qos: .atMostOnce)), .v5
        ),
        ("3.1.2.9 of MQTT 3.1.1", .connect(.init(clientID: "a", password: [1])), .v311),
        ("3.15 of MQTT 5", .auth(.init()), .v311),
    ]

    @Test("A packet that breaks a rule is not encoded", arguments: unsendablePackets)
    func unsendable(statement: String, packet: MQTTPacket, version: MQTTVersion) {
        #expect(throws: MQTTFault.self, "\(statement)") { try packet.encoded(as: version) }
    }

    @Test("A filter may have wildcards as whole levels", arguments: ["#", "+", "/", "a//b", "+/+/#", "a/+", "$SYS/#"])
    func filters(filter: String) { #expect(MQTTTopic.isFilter(filter)) }

    @Test("A reason is described by its name and number")
    func reasons() {
        #expect("\(MQTTReasonCode.sessionTakenOver)" == "session taken over (0x8E)")
        #expect("\(MQTTReasonCode(rawValue: 0x04))" == "disconnect with will message (0x04)")
        #expect("\(MQTTReasonCode(rawValue: 0xFE))" == "unknown reason (0xFE)")
    }
}
