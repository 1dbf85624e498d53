import MQTTCore
import Testing

/// A session with a broker that is a list of packets.
struct SessionLab {
    var session: MQTTSession
    var now = Duration.zero

    init(_ change: (inout MQTTSession.Configuration) -> Void = { _ in }) {
        var configuration = MQTTSession.Configuration(clientID: "node")
        change(&configuration)
        session = .init(configuration)
    }

    /// Connects, and returns CONNECT and what follows CONNACK.
    @discardableResult
    mutating func connect(
        _ version: MQTTVersion = .v5,
        hasSession: Bool = false,
        will: MQTTWill? = nil,
        _ change: (inout MQTTProperties) -> Void = { _ in }
    ) throws -> [MQTTPacket] {
        session.connect(version, will: will, at: now)
        let first = session.takeOutput(at: now)
        var connack = MQTTConnAck(hasSession: hasSession, reason: .success)
        change(&connack.properties)
        try session.receive(.connack(connack), at: now)
        #expect(session.takeEvents().first == .connected(hasSession: hasSession))
        return first + session.takeOutput(at: now)
    }

    mutating func publish(_ token: UInt64, qos: MQTTQoS = .atLeastOnce) {
        session.publish(Self.message(token, qos), token: token)
    }

    static func message(_ token: UInt64, _ qos: MQTTQoS = .atLeastOnce) -> MQTTPublish {
        .init(topic: "a", payload: [UInt8(truncatingIfNeeded: token)], qos: qos)
    }

    /// The messages that are sent now.
    mutating func sent() -> [MQTTPublish] { Self.messages(session.takeOutput(at: now)) }

    static func messages(_ packets: [MQTTPacket]) -> [MQTTPublish] {
        packets.compactMap { packet in
            guard case .publish(let publish) = packet else { return nil }
            return publish
        }
    }

    /// Has a message at QoS 1 arrive.
    mutating func receive(_ id: UInt16) throws { try session.receive(.publish(Self.received(id)), at: now) }

    /// A message at QoS 1 from the broker.
    static func received(_ id: UInt16) -> MQTTPublish {
        var message = Self.message(1)
        message.id = id
        return message
    }

    /// The tokens of the messages that were acknowledged or replaced since the last call.
    mutating func acknowledgedTokens() -> [UInt64] {
        session.takeEvents().compactMap { event -> UInt64? in
            guard case .acknowledged(let token, _) = event else { return nil }
            return token
        }
    }

    mutating func acknowledge(_ id: UInt16, _ reason: MQTTReasonCode = .success) throws {
        try session.receive(.puback(.init(id: id, reason: reason)), at: now)
    }
}

@Suite("An MQTT session")
struct SessionTests {
    @Test("MQTT-3.1.0-1, 4.12.0-7: CONNECT is first, and nothing else is sent before CONNACK")
    func first() throws {
        var lab = SessionLab()
        lab.publish(1)
        lab.session.connect(.v5, will: nil, at: .zero)
        guard case .connect(let connect)? = lab.session.takeOutput(at: .zero).first else {
            Issue.record("no CONNECT")
            return
        }
        #expect(connect.startsClean && connect.clientID == "node")
        #expect(lab.session.takeOutput(at: .zero).isEmpty)
    }

    @Test(
        "MQTT-2.2.1-2, 2.2.1-3, 4.3.2-1, 4.3.1-1: messages in flight have different identifiers, which are not 0; at QoS 0 they have none"
    )
    func identifiers() throws {
        var lab = SessionLab { $0.window = 70_000 }
        try lab.connect()
        for token in 0..<65_535 { lab.publish(UInt64(token)) }
        let ids = lab.sent().map(\.id)
        #expect(Set(ids).count == 65_535 && !ids.contains(0))
        lab.publish(1, qos: .atMostOnce)
        lab.publish(2)
        #expect(lab.sent().isEmpty)
        try lab.acknowledge(77)
        #expect(lab.sent().map(\.id) == [0, 77])
    }

    @Test(
        "MQTT-3.3.4-7, 4.9.0-1, 4.9.0-2: no more messages are in flight than the broker's receive maximum, and than the window"
    )
    func window() throws {
        var lab = SessionLab { $0.window = 3 }
        try lab.connect { $0[number: .receiveMaximum] = 2 }
        for token in 1...5 { lab.publish(UInt64(token)) }
        let first = lab.sent()
        #expect(first.map(\.payload) == [[1], [2]])
        try lab.acknowledge(first[1].id)
        #expect(lab.sent().map(\.payload) == [[3]])
        #expect(lab.session.takeEvents() == [.acknowledged(token: 2, .success)])
        #expect(lab.session.unacknowledged == 4)
    }

    @Test("MQTT-3.3.4-8, 4.9.0-3: with a full window, other packets are sent and taken")
    func fullWindow() throws {
        var lab = SessionLab { $0.window = 1 }
        try lab.connect()
        lab.publish(1)
        lab.publish(2)
        #expect(lab.session.subscribe([.init("a", qos: .atMostOnce)]) != nil)
        #expect(lab.session.takeOutput(at: .zero).map(\.name) == ["SUBSCRIBE", "PUBLISH"])
    }

    @Test(
        "MQTT-4.4.0-1, 4.6.0-1, 3.3.1-1, 4.3.2-3: with the session, messages in flight are resent as duplicates, in order, with their identifiers"
    )
    func resend() throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        try lab.connect()
        for token in 1...3 { lab.publish(UInt64(token)) }
        let before = lab.sent()
        try lab.acknowledge(before[1].id)
        #expect(lab.session.takeEvents() == [.acknowledged(token: 2, .success)])
        lab.session.closed()
        lab.publish(4)
        let after = SessionLab.messages(try lab.connect(hasSession: true))
        #expect(after.map(\.payload) == [[1], [3], [4]])
        #expect(after.map(\.isDuplicate) == [true, true, false])
        #expect(after.prefix(2).map(\.id) == [before[0].id, before[2].id])
    }

    @Test("MQTT-4.4.0-1: a session is resumed within a receive maximum that has become smaller")
    func smallerWindow() throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        try lab.connect()
        for token in 1...3 { lab.publish(UInt64(token)) }
        let before = lab.sent()
        lab.session.closed()
        let after = SessionLab.messages(try lab.connect(hasSession: true) { $0[number: .receiveMaximum] = 2 })
        #expect(after.map(\.id) == before.prefix(2).map(\.id))
        try lab.acknowledge(before[0].id)
        let rest = lab.sent()
        #expect(rest.map(\.id) == [before[2].id] && rest[0].isDuplicate)
    }

    @Test("MQTT-4.4.0-2: a message that was refused is not resent")
    func refused() throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        try lab.connect()
        lab.publish(1)
        try lab.acknowledge(lab.sent()[0].id, .quotaExceeded)
        #expect(lab.session.takeEvents() == [.acknowledged(token: 1, .quotaExceeded)])
        lab.session.closed()
        #expect(SessionLab.messages(try lab.connect(hasSession: true)).isEmpty)
    }

    @Test("MQTT-3.2.2-5: without the session, messages in flight are sent as new ones, before those that wait")
    func lostSession() throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        try lab.connect()
        for token in 1...2 { lab.publish(UInt64(token)) }
        _ = lab.sent()
        lab.session.closed()
        lab.publish(3)
        let after = SessionLab.messages(try lab.connect(hasSession: false))
        #expect(after.map(\.payload) == [[1], [2], [3]])
        #expect(after.allSatisfy { !$0.isDuplicate })
    }

    @Test("A message that was refused is sent again before those that were sent after it")
    func refusedAgain() throws {
        var lab = SessionLab {
            $0.sessionExpiry = 60
            $0.window = 4
        }
        try lab.connect()
        for token: UInt64 in 16...20 { lab.publish(token) }
        let before = lab.sent()
        for index in [0, 2] { try lab.acknowledge(before[index].id, .notAuthorized) }
        lab.session.closed()
        lab.session.connect(.v5, will: nil, at: .zero)
        _ = lab.session.takeOutput(at: .zero)
        try lab.session.receive(.connack(.init(hasSession: true, reason: .success)), at: .zero)
        lab.publish(1)
        for token: UInt64 in [16, 18] { lab.session.publishAgain(SessionLab.message(token), token: token) }
        #expect(lab.session.hasUnsent)
        let first = lab.sent()
        #expect(first.map(\.payload) == [[16], [17], [18], [19]])
        #expect(first.map(\.isDuplicate) == [false, true, false, true])
        for message in first { try lab.acknowledge(message.id) }
        #expect(lab.sent().map(\.payload) == [[20], [1]])
        #expect(!lab.session.hasUnsent)
    }

    @Test("Messages that a new connection begins with precede those that are sent again and those that wait")
    func firstMessages() throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        try lab.connect()
        lab.publish(16)
        #expect(lab.sent().count == 1)
        lab.session.closed()
        lab.publish(17)
        lab.session.connect(.v5, will: nil, at: .zero)
        _ = lab.session.takeOutput(at: .zero)
        try lab.session.receive(.connack(.init(hasSession: true, reason: .success)), at: .zero)
        lab.session.publishFirst([1, 2].map { (SessionLab.message($0), $0) })
        let sent = lab.sent()
        #expect(sent.map(\.payload) == [[1], [2], [16], [17]])
        #expect(sent.map(\.isDuplicate) == [false, false, true, false])
        #expect(Set(sent.map(\.id)).count == 4)
    }

    /// A retained message, of which only the newest counts.
    private static func retained(_ token: UInt64) -> MQTTPublish {
        var message = SessionLab.message(token)
        message.isRetained = true
        return message
    }

    @Test(
        "A broker that acknowledges nothing is sent the newest retained message on each connection, and few older ones",
        arguments: [MQTTVersion.v5, .v311]
    )
    func unacknowledgedRetained(version: MQTTVersion) throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        lab.publish(16)
        var (keepsSession, replaced) = (false, [UInt64]())
        for round: UInt64 in 1...9 {
            lab.session.connect(version, will: nil, at: .zero)
            guard case .connect(let connect)? = lab.session.takeOutput(at: .zero).first else {
                Issue.record("no CONNECT")
                return
            }
            let hasSession = keepsSession && !connect.startsClean
            keepsSession = version == .v5 || !connect.startsClean
            try lab.session.receive(.connack(.init(hasSession: hasSession, reason: .success)), at: .zero)
            lab.session.publishFirst([(Self.retained(round), round)])
            let sent = lab.sent()
            #expect(sent.first?.payload == [UInt8(round)] && sent.count <= 4, "\(sent)")
            #expect(sent.contains { $0.payload == [16] })
            replaced += lab.acknowledgedTokens()
            lab.session.closed()
        }
        #expect(Set(replaced).count == replaced.count && !replaced.contains(16))
        #expect(lab.session.unacknowledged + replaced.count == 10)
    }

    @Test("Of retained messages for one topic that wait, only the newest is sent")
    func waitingRetained() throws {
        var lab = SessionLab()
        lab.publish(16)
        for token: UInt64 in 1...3 { lab.session.publish(Self.retained(token), token: token) }
        var other = Self.retained(4)
        other.topic = "b"
        lab.session.publish(other, token: 4)
        #expect(lab.acknowledgedTokens() == [1, 2])
        #expect(SessionLab.messages(try lab.connect()).map(\.payload) == [[16], [3], [4]])
    }

    @Test("What is known of messages before a connection is reported after it")
    func replacedBeforeConnection() throws {
        var lab = SessionLab()
        for token: UInt64 in 1...2 { lab.session.publish(Self.retained(token), token: token) }
        lab.session.connect(.v5, will: nil, at: .zero)
        #expect(lab.acknowledgedTokens() == [1])
    }

    @Test("MQTT-3.2.2-4: a broker that has a session where a clean one was requested is an error")
    func unexpectedSession() throws {
        var lab = SessionLab()
        lab.session.connect(.v5, will: nil, at: .zero)
        #expect(throws: MQTTFault.self) {
            try lab.session.receive(.connack(.init(hasSession: true, reason: .success)), at: .zero)
        }
    }

    @Test("MQTT-3.2.2-15: a message over the broker's maximum packet size is not sent")
    func packetSize() throws {
        var lab = SessionLab()
        try lab.connect { $0[number: .maximumPacketSize] = 20 }
        lab.session.publish(.init(topic: "a", payload: .init(repeating: 0, count: 20), qos: .atLeastOnce), token: 1)
        lab.publish(2)
        #expect(lab.sent().map(\.payload) == [[2]])
        #expect(lab.session.takeEvents() == [.acknowledged(token: 1, .packetTooLarge)])
    }

    @Test("MQTT-3.2.2-18, 3.3.2-9, 3.3.4-6: a message with a topic alias or a subscription identifier is not sent")
    func aliases() throws {
        var lab = SessionLab()
        try lab.connect()
        for (token, name) in [(UInt64(1), MQTTPropertyName.topicAlias), (2, .subscriptionIdentifier)] {
            var message = SessionLab.message(token)
            message.properties[number: name] = 1
            lab.session.publish(message, token: token)
        }
        #expect(lab.sent().isEmpty)
        #expect(
            lab.session.takeEvents()
                == [.acknowledged(token: 1, .topicAliasInvalid), .acknowledged(token: 2, .protocolError)]
        )
    }

    @Test(
        "MQTT-3.2.2-11, 3.2.2-14: a message over the broker's maximum QoS, or retained where it is not available, is not sent"
    )
    func qos() throws {
        var lab = SessionLab()
        try lab.connect {
            $0[number: .maximumQoS] = 0
            $0[number: .retainAvailable] = 0
        }
        lab.publish(1)
        lab.session.publish(.init(topic: "a", payload: [], qos: .atMostOnce, isRetained: true), token: 2)
        #expect(lab.sent().isEmpty)
        let refused: [MQTTSession.Event] = [
            .acknowledged(token: 1, .qosNotSupported), .acknowledged(token: 2, .retainNotSupported),
        ]
        #expect(lab.session.takeEvents() == refused)
    }

    @Test(
        "MQTT-3.1.2-20, 3.1.2-21, 3.2.2-21: PINGREQ is sent in time for the keep-alive, which is the broker's if it demands one"
    )
    func keepAlive() throws {
        var lab = SessionLab { $0.keepAlive = 60 }
        try lab.connect { $0[number: .serverKeepAlive] = 20 }
        #expect(lab.session.deadline == .seconds(15))
        try lab.session.advance(to: .seconds(14))
        #expect(lab.session.takeOutput(at: .seconds(14)).isEmpty)
        try lab.session.advance(to: .seconds(15))
        #expect(lab.session.takeOutput(at: .seconds(15)) == [.pingreq])
        try lab.session.receive(.pingresp, at: .seconds(16))
        #expect(lab.session.deadline == .seconds(30))
    }

    @Test("A broker that does not respond to PINGREQ is given up")
    func deadBroker() throws {
        var lab = SessionLab { $0.keepAlive = 60 }
        try lab.connect()
        try lab.session.advance(to: .seconds(45))
        _ = lab.session.takeOutput(at: .seconds(45))
        #expect(lab.session.deadline == .seconds(65))
        let fault = #expect(throws: MQTTFault.self) { try lab.session.advance(to: .seconds(65)) }
        #expect(fault?.reason == .keepAliveTimeout)
    }

    @Test("A broker that sends messages before its response to PINGREQ is given up only after the last of them")
    func busyBroker() throws {
        var lab = SessionLab { $0.keepAlive = 60 }
        try lab.connect()
        try lab.session.advance(to: .seconds(45))
        #expect(lab.session.takeOutput(at: .seconds(45)) == [.pingreq])
        try lab.session.receive(.publish(SessionLab.message(1, .atMostOnce)), at: .seconds(60))
        #expect(lab.session.deadline == .seconds(80))
        try lab.session.advance(to: .seconds(65))
        let fault = #expect(throws: MQTTFault.self) { try lab.session.advance(to: .seconds(80)) }
        #expect(fault?.reason == .keepAliveTimeout)
    }

    @Test("MQTT-3.1.2-20: PINGREQ is sent in time for the keep-alive, even if the last one has no response yet")
    func keepAliveOfBusyBroker() throws {
        var lab = SessionLab { $0.keepAlive = 60 }
        try lab.connect()
        try lab.session.advance(to: .seconds(45))
        #expect(lab.session.takeOutput(at: .seconds(45)) == [.pingreq])
        for second in [60, 75, 89] {
            try lab.session.receive(.publish(SessionLab.message(1, .atMostOnce)), at: .seconds(second))
        }
        #expect(lab.session.deadline == .seconds(90))
        try lab.session.advance(to: .seconds(90))
        #expect(lab.session.takeOutput(at: .seconds(90)) == [.pingreq])
        #expect(lab.session.deadline == .seconds(109))
        try lab.session.receive(.pingresp, at: .seconds(100))
        #expect(lab.session.deadline == .seconds(135))
    }

    @Test("The response to a PINGREQ is told apart from those to earlier ones, and from one that nobody asked for")
    func pingResponses() throws {
        var lab = SessionLab { $0.keepAlive = 60 }
        #expect(lab.session.ping(at: .zero) == nil)
        try lab.connect()
        try lab.session.receive(.pingresp, at: .zero)
        #expect(lab.session.takeEvents().isEmpty)
        try lab.session.advance(to: .seconds(45))
        #expect(lab.session.ping(at: .seconds(46)) == 2)
        #expect(lab.session.takeOutput(at: .seconds(46)) == [.pingreq, .pingreq])
        for number: UInt64 in [1, 2] {
            try lab.session.receive(.pingresp, at: .seconds(47))
            #expect(lab.session.takeEvents() == [.responded(ping: number)])
        }
        // The numbers are those of a connection.
        #expect(lab.session.ping(at: .seconds(48)) == 3)
        lab.session.closed()
        try lab.connect()
        #expect(lab.session.ping(at: .seconds(49)) == 1)
    }

    @Test("A broker that does not acknowledge is asked for a sign of life")
    func silentBroker() throws {
        var lab = SessionLab { $0.keepAlive = 0 }
        try lab.connect()
        #expect(lab.session.deadline == nil)
        lab.publish(1)
        _ = lab.sent()
        try lab.session.advance(to: .seconds(20))
        #expect(lab.session.takeOutput(at: .seconds(20)) == [.pingreq])
        try lab.session.receive(.pingresp, at: .seconds(21))
        #expect(lab.session.deadline == .seconds(41))
    }

    @Test("A broker that does not respond to CONNECT is given up")
    func silentConnack() throws {
        var lab = SessionLab()
        lab.session.connect(.v5, will: nil, at: .zero)
        #expect(throws: MQTTFault.self) { try lab.session.advance(to: .seconds(20)) }
    }

    @Test("MQTT-4.3.2-4, 4.5.0-2, 4.6.0-2, 3.3.4-1: a message at QoS 1 is acknowledged with its identifier")
    func receive() throws {
        var lab = SessionLab()
        try lab.connect()
        #expect(lab.session.subscribe([.init("#", qos: .atLeastOnce)]) == 1)
        try lab.session.receive(.suback(.init(id: 1, [.init(rawValue: 1)])), at: .zero)
        var message = SessionLab.message(1)
        message.id = 9
        try lab.session.receive(.publish(message), at: .zero)
        #expect(lab.session.takeOutput(at: .zero).last == .puback(.init(id: 9)))
        #expect(lab.session.takeEvents() == [.subscribed(id: 1, [.init(rawValue: 1)]), .message(message)])
    }

    @Test("MQTT-4.6.0-2: messages that are acknowledged later are so in their order, and only on their connection")
    func lateAcknowledgement() throws {
        var lab = SessionLab {
            $0.sessionExpiry = 60
            $0.acknowledgesReceipt = false
        }
        try lab.connect()
        for id in [7, 9, 8] as [UInt16] { try lab.receive(id) }
        #expect(lab.session.takeOutput(at: .zero).isEmpty)
        lab.session.acknowledge(received: 2)
        #expect(lab.session.takeOutput(at: .zero) == [.puback(.init(id: 7)), .puback(.init(id: 9))])
        lab.session.closed()
        try lab.connect(hasSession: true)
        // Another message with the identifier of the one that was not acknowledged.
        try lab.receive(8)
        lab.session.acknowledge(received: 3)
        #expect(lab.session.takeOutput(at: .zero).isEmpty)
        lab.session.acknowledge(received: 4)
        #expect(lab.session.takeOutput(at: .zero) == [.puback(.init(id: 8))])
    }

    @Test("MQTT-3.3.4-9: a broker that exceeds the Receive Maximum is disconnected")
    func receiveMaximum() throws {
        for version in [MQTTVersion.v5, .v311] {
            var lab = SessionLab {
                $0.acknowledgesReceipt = false
                $0.receiveMaximum = 2
            }
            try lab.connect(version)
            try lab.receive(1)
            try lab.receive(2)
            lab.session.acknowledge(received: 1)
            try lab.receive(3)
            try lab.session.receive(.publish(SessionLab.message(1, .atMostOnce)), at: .zero)
            var fault: MQTTFault?
            do throws(MQTTFault) { try lab.session.receive(.publish(SessionLab.received(4)), at: .zero) } catch {
                fault = error
            }
            let expected: MQTTReasonCode? = version == .v5 ? .receiveMaximumExceeded : nil
            #expect(fault?.reason == expected)
        }
    }

    @Test("A session that outlives the client is resumed by the first connection, and kept by DISCONNECT")
    func keptSession() throws {
        var lab = SessionLab {
            $0.sessionExpiry = 60
            $0.keepsSession = true
        }
        guard case .connect(let connect)? = try lab.connect(hasSession: true).first else {
            Issue.record("no CONNECT")
            return
        }
        #expect(!connect.startsClean)
        lab.session.disconnect()
        #expect(lab.session.takeOutput(at: .zero) == [.disconnect(.init(.success))])
    }

    /// Packets that a broker must not send.
    static let forbiddenPackets: [MQTTPacket] = [
        .connect(.init(clientID: "")), .connack(.init(hasSession: false, reason: .success)), .pingreq,
        .pubrec(.init(id: 1)),
        .auth(.init()), .subscribe(.init(id: 1, [.init("a", qos: .atMostOnce)])),
        .publish(.init(topic: "a", payload: [], qos: .exactlyOnce, id: 1)),
        .disconnect(
            {
                var notice = MQTTNotice()
                notice.properties[number: .sessionExpiryInterval] = 1
                return notice
            }()
        ),
        .publish(
            {
                var message = MQTTPublish(topic: "a", payload: [], qos: .atMostOnce)
                message.properties[number: .topicAlias] = 1
                return message
            }()
        ),
    ]

    @Test(
        "MQTT-4.12.0-6, 3.2.0-2, 3.1.2-27, 3.14.2-2: a packet that a broker must not send is an error",
        arguments: forbiddenPackets
    )
    func forbidden(packet: MQTTPacket) throws {
        var lab = SessionLab()
        try lab.connect()
        #expect(throws: MQTTFault.self) { try lab.session.receive(packet, at: .zero) }
    }

    @Test("MQTT-3.2.0-1: a packet before CONNACK is an error")
    func early() {
        var lab = SessionLab()
        lab.session.connect(.v5, will: nil, at: .zero)
        #expect(throws: MQTTFault.self) { try lab.session.receive(.pingresp, at: .zero) }
    }

    @Test("MQTT-3.14.4-1: after DISCONNECT nothing is sent, and the broker forgets the session")
    func disconnect() throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        try lab.connect()
        lab.session.disconnect()
        lab.publish(1)
        var notice = MQTTNotice()
        notice.properties[number: .sessionExpiryInterval] = 0
        #expect(lab.session.takeOutput(at: .zero) == [.disconnect(notice)])
        #expect(lab.session.takeOutput(at: .zero).isEmpty)
    }

    @Test(
        "After an error, DISCONNECT has the reason in MQTT 5, and is not sent in MQTT 3.1.1, where it discards the will"
    )
    func faults() throws {
        for (version, expected) in [(MQTTVersion.v5, [MQTTPacket.disconnect(.init(.protocolError))]), (.v311, [])] {
            var lab = SessionLab()
            try lab.connect(version)
            lab.session.disconnect(.protocolError)
            #expect(lab.session.takeOutput(at: .zero) == expected)
        }
    }

    @Test("The broker's DISCONNECT has its reason")
    func disconnected() throws {
        var lab = SessionLab()
        try lab.connect()
        try lab.session.receive(.disconnect(.init(.sessionTakenOver)), at: .zero)
        #expect(lab.session.takeEvents() == [.disconnected(.sessionTakenOver, nil)])
    }

    @Test("In MQTT 3.1.1, a session that lasts begins without Clean Session, and the will has no properties")
    func version3() throws {
        var lab = SessionLab { $0.sessionExpiry = 60 }
        var will = MQTTWill(topic: "w", payload: [])
        will.properties[number: .willDelayInterval] = 10
        let packets = try lab.connect(.v311, will: will)
        guard case .connect(let connect)? = packets.first else {
            Issue.record("no CONNECT")
            return
        }
        #expect(!connect.startsClean && connect.will?.properties.isEmpty == true && connect.properties.isEmpty)
        #expect(throws: Never.self) { try packets[0].encoded(as: .v311) }
    }
}

@Suite("Reconnecting to a broker")
struct ReconnectPlanTests {
    @Test("The ceiling of the delay doubles from 30 s to 5 min, and begins again after a connection that lasted")
    func ceiling() {
        var plan = MQTTReconnectPlan()
        #expect((0..<6).map { _ in plan.delay(1) } == [30, 60, 120, 240, 300, 300].map { .seconds($0) })
        plan.reset()
        #expect(plan.delay(0.5) == .seconds(15))
        #expect(plan.delay(0) == .zero)
    }

    @Test("After a change of the path, the first four failures to reach anything are followed by short delays")
    func newPath() {
        var plan = MQTTReconnectPlan()
        plan.pathChanged()
        #expect(plan.delay(1) == .seconds(30))
        #expect((0..<5).map { _ in plan.delay(1, isOfPath: true) } == [1, 2, 4, 8, 60].map { .seconds($0) })
        plan.reset()
        #expect(plan.delay(1, isOfPath: true) == .seconds(30))
        plan.pathChanged()
        #expect(plan.delay(0, isOfPath: true) == .milliseconds(500))
    }

    @Test("After a refusal the delay is up to 5 min")
    func refusal() {
        var plan = MQTTReconnectPlan()
        #expect(plan.delay(1, isRefused: true) == .seconds(300))
    }

    @Test("5,000 clients of a broker that restarts return over 30 s, and of one that stays away over 5 min")
    func herd() {
        // A generator whose numbers are the same in each run (Knuth's MMIX).
        var seed: UInt64 = 20
        let fraction = { () -> Double in
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(seed >> 11) / Double(1 << 53)
        }
        var plans = [MQTTReconnectPlan](repeating: .init(), count: 5_000)
        for (failure, most) in [(1, 220), (2, 130), (3, 80), (4, 50), (5, 40)] {
            var attempts: [Int64: Int] = [:]
            for index in plans.indices {
                attempts[plans[index].delay(fraction()).components.seconds, default: 0] += 1
            }
            let highest = attempts.values.max() ?? 0
            #expect(highest <= most, "after failure \(failure), \(highest) connections in one second")
        }
    }

    @Test("A broker without MQTT 5 is connected to with MQTT 3.1.1 from then on")
    func fallback() {
        var choice = MQTTVersionChoice()
        #expect(choice.version == .v5)
        #expect(choice.refused() && choice.version == .v311)
        choice.accepted()
        choice.closed()
        choice.closed()
        #expect(choice.version == .v311)
        var only = MQTTVersionChoice(only: .v5)
        #expect(!only.refused() && only.version == .v5)
    }

    @Test("A broker that twice closes the connection instead of a response is connected to with the other version")
    func silentFallback() {
        var choice = MQTTVersionChoice()
        choice.closed()
        #expect(choice.version == .v5)
        choice.closed()
        #expect(choice.version == .v311)
        choice.closed()
        #expect(choice.version == .v5)
    }
}
