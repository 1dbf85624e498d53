/// A client's session: what is sent on a connection, what is in flight over connections, and when a connection is dead.
///
/// It is pure: packets that were received and the time are passed in, and the packets to send are taken out. Times are
/// durations since any moment.
package struct MQTTSession: Sendable {
    /// The parameters of a session.
    package struct Configuration: Sendable {
        package var clientID: String
        package var userName: String?
        package var password: [UInt8]?
        /// In seconds; the server may demand another one.
        package var keepAlive: UInt16 = 60
        /// The time for which the server keeps the session after a connection, in seconds; 0 for not at all.
        package var sessionExpiry: UInt32 = 0
        /// Whether the session outlives the client: it begins with the one that the server has, and DISCONNECT keeps it.
        package var keepsSession = false
        /// Whether messages at QoS 1 are acknowledged when they are received; if not, ``MQTTSession/acknowledge(received:)``
        /// does so.
        package var acknowledgesReceipt = true
        /// How many messages at QoS 1 the server may send before they are acknowledged.
        package var receiveMaximum: UInt16 = 1024
        /// The largest packet that is accepted, in bytes.
        package var maximumPacketSize: UInt32 = 1 << 20
        /// How many messages at QoS 1 are sent before they are acknowledged; the server may allow fewer.
        package var window = 50
        /// The maximum time for each response of the server.
        package var responseTimeout = Duration.seconds(20)

        package init(clientID: String) { self.clientID = clientID }
    }

    /// An event of the session.
    package enum Event: Hashable, Sendable {
        /// The server accepted the connection; it may have the session of before.
        case connected(hasSession: Bool)
        /// The server refused the connection; the text is its explanation.
        case refused(MQTTReasonCode, String?)
        /// A message was acknowledged, can't be delivered, or was replaced by a newer one before it was sent in the broker's
        /// session.
        case acknowledged(token: UInt64, MQTTReasonCode)
        /// A message was received.
        case message(MQTTPublish)
        /// The results of a subscription, or of its end.
        case subscribed(id: UInt16, [MQTTReasonCode])
        /// The server ends the connection; the text is its explanation.
        case disconnected(MQTTReasonCode, String?)
        /// The server has responded to a PINGREQ of this connection, and to all before it.
        case responded(ping: UInt64)
    }

    private enum Phase { case idle, connecting, connected }

    private struct Outgoing {
        let token: UInt64
        /// Its place in the order in which messages were published.
        let number: UInt64
        var publish: MQTTPublish
    }

    package let configuration: Configuration
    /// The version of the current connection.
    package private(set) var version = MQTTVersion.v5
    private var phase = Phase.idle
    private var limits = MQTTLimits()
    /// The messages that were sent and not acknowledged, in order.
    private var inFlight: [Outgoing] = []
    private var queue: [Outgoing] = []
    /// The number of messages that were ever published.
    private var published: UInt64 = 0
    private var usedIDs: Set<UInt16> = []
    private var lastID: UInt16 = 0
    private var output: [MQTTPacket] = []
    private var events: [Event] = []
    private var lastSent = Duration.zero
    /// When PINGREQ was sent, or a packet was received after that; nil if no response to it is due.
    private var pingSent: Duration?
    /// The number of PINGREQ packets sent, and of PINGRESP packets received, on this connection.
    private var pings: (sent: UInt64, received: UInt64) = (0, 0)
    /// When the response that is waited for became due.
    private var waitingSince: Duration?
    /// Whether the server has had a session that it may still have.
    private var mayHaveSession: Bool
    /// Whether the current connection began a clean session.
    private var startsClean = true
    /// The number of messages at QoS 1 that were received over all connections.
    private var received: UInt64 = 0
    /// The identifiers of those of this connection that are not acknowledged, in order, with their numbers.
    private var receipts: [(number: UInt64, id: UInt16)] = []

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        mayHaveSession = configuration.keepsSession && configuration.sessionExpiry > 0
    }

    /// Whether the server has accepted the connection.
    package var isConnected: Bool { phase == .connected }
    /// The number of messages that are not acknowledged yet.
    package var unacknowledged: Int { inFlight.count + queue.count }
    /// Whether messages wait that were not sent on this connection.
    package var hasUnsent: Bool { !queue.isEmpty }
    /// The keep-alive that holds, in seconds.
    package var keepAlive: UInt16 { limits.keepAlive ?? configuration.keepAlive }
}

// MARK: The connection

extension MQTTSession {
    /// Begins a connection, with CONNECT.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - will: The will.
    ///   - now: The time.
    package mutating func connect(_ version: MQTTVersion, will: MQTTWill?, at now: Duration) {
        (self.version, phase, limits) = (version, .connecting, .init())
        (output, receipts, pingSent, waitingSince) = ([], [], nil, now)
        pings = (0, 0)
        // Messages are replaced without a connection, too.
        events.removeAll { if case .acknowledged = $0 { false } else { true } }
        var connect = MQTTConnect(
            clientID: configuration.clientID,
            startsClean: !mayHaveSession || hasManyReplaced,
            keepAlive: configuration.keepAlive,
            userName: configuration.userName,
            password: configuration.password,
            will: will
        )
        if version == .v5 { addProperties(to: &connect) } else { addSession(to: &connect) }
        startsClean = connect.startsClean
        output.append(.connect(connect))
    }

    private func addProperties(to connect: inout MQTTConnect) {
        if configuration.sessionExpiry > 0 {
            connect.properties[number: .sessionExpiryInterval] = configuration.sessionExpiry
        }
        connect.properties[number: .receiveMaximum] = UInt32(configuration.receiveMaximum)
        connect.properties[number: .maximumPacketSize] = configuration.maximumPacketSize
    }

    /// In MQTT 3.1.1, a session lasts beyond the connection only if the connection does not begin a clean one.
    private func addSession(to connect: inout MQTTConnect) {
        connect.startsClean = configuration.sessionExpiry == 0 || hasManyReplaced
        // A password needs a user name there.
        if connect.password != nil, connect.userName == nil { connect.userName = "" }
        connect.will?.properties = .init()
    }

    /// Ends the connection with DISCONNECT, and the session with it, unless it is to outlive the client.
    ///
    /// - Parameter reason: Why; the server publishes the will unless it is `success`.
    package mutating func disconnect(_ reason: MQTTReasonCode = .success) {
        guard phase == .connected else { return }
        phase = .idle
        // In MQTT 3.1.1, DISCONNECT has no reason: any discards the will.
        guard version == .v5 || reason == .success else { return }
        var notice = MQTTNotice(reason)
        if version == .v5, reason == .success, configuration.sessionExpiry > 0, !configuration.keepsSession {
            notice.properties[number: .sessionExpiryInterval] = 0
        }
        output.append(.disconnect(notice))
    }

    /// Notes that the connection is closed; messages in flight stay.
    package mutating func closed() { (phase, output, pingSent, waitingSince) = (.idle, [], nil, nil) }

    /// The packets to send now.
    package mutating func takeOutput(at now: Duration) -> [MQTTPacket] {
        sendQueue(at: now)
        defer { output = [] }
        if !output.isEmpty { lastSent = now }
        return output
    }

    /// The events since the last call.
    package mutating func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }
}

// MARK: Time

extension MQTTSession {
    /// When ``advance(to:)`` has to be called; nil if nothing is due.
    package var deadline: Duration? {
        let response = (pingSent ?? waitingSince).map { $0 + configuration.responseTimeout }
        guard phase == .connected, keepAlive > 0 else { return phase == .idle ? nil : response }
        // Early enough for the server to have it in time, even if the last one has no response yet.
        let ping = lastSent + .seconds(Int(keepAlive)) * 3 / 4
        return response.map { min($0, ping) } ?? ping
    }

    /// Sends PINGREQ if it is due.
    ///
    /// - Throws: ``MQTTFault`` if the server does not respond.
    package mutating func advance(to now: Duration) throws(MQTTFault) {
        guard let deadline, now >= deadline else { return }
        let isOverdue = pingSent.map { now >= $0 + configuration.responseTimeout } ?? false
        guard phase == .connected, !isOverdue else {
            throw .init(.keepAliveTimeout, "the broker did not respond within \(configuration.responseTimeout)")
        }
        _ = ping(at: now)
    }

    /// Sends PINGREQ; nil if there is no connection.
    ///
    /// - Returns: The number that ``Event/responded(ping:)`` has.
    package mutating func ping(at now: Duration) -> UInt64? {
        guard phase == .connected else { return nil }
        output.append(.pingreq)
        pingSent = pingSent ?? now
        pings.sent += 1
        return pings.sent
    }
}

// MARK: Sending

extension MQTTSession {
    /// Queues a message.
    ///
    /// - Parameters:
    ///   - message: The message, without packet identifier.
    ///   - token: What ``Event/acknowledged(token:_:)`` names it by; one at QoS 0 is acknowledged when it is sent.
    package mutating func publish(_ message: MQTTPublish, token: UInt64) {
        let new = outgoing(message, token)
        queue.append(new)
        if message.isRetained { removeReplaced() }
    }

    /// Queues messages before all that wait.
    ///
    /// When a connection has been accepted, they are the first that are sent on it, before those that are sent again.
    ///
    /// - Parameter messages: The messages in order, with their tokens.
    package mutating func publishFirst(_ messages: [(publish: MQTTPublish, token: UInt64)]) {
        var first: [Outgoing] = []
        for (message, token) in messages {
            let new = outgoing(message, token)
            first.append(new)
        }
        queue.insert(contentsOf: first, at: 0)
        removeReplaced()
    }

    /// Queues a message again that the server refused: before those with higher tokens that wait.
    ///
    /// When the next connection has been accepted, none has been sent on it, so that the order of tokens is kept. The message
    /// must not be retained.
    package mutating func publishAgain(_ message: MQTTPublish, token: UInt64) {
        assert(!message.isRetained, "a retained message that was refused must not replace a newer one")
        let index = queue.firstIndex { $0.token > token } ?? queue.endIndex
        let new = outgoing(message, token)
        queue.insert(new, at: index)
    }

    private mutating func outgoing(_ message: MQTTPublish, _ token: UInt64) -> Outgoing {
        published += 1
        return .init(token: token, number: published, publish: message)
    }

    /// Removes retained messages that were not sent in the session, and that a newer one for their topic replaces.
    ///
    /// Otherwise a server that acknowledges nothing would be sent more of them with each connection.
    private mutating func removeReplaced() {
        var newest: [String: UInt64] = [:]
        for outgoing in inFlight + queue where outgoing.publish.isRetained {
            newest[outgoing.publish.topic] = max(newest[outgoing.publish.topic] ?? 0, outgoing.number)
        }
        let isReplaced = { (outgoing: Outgoing) in
            outgoing.publish.isRetained && outgoing.publish.id == 0
                && newest[outgoing.publish.topic] != outgoing.number
        }
        events += queue.filter(isReplaced).map { .acknowledged(token: $0.token, .success) }
        queue.removeAll(where: isReplaced)
    }

    /// Whether too many retained messages for one topic were sent in the session, and not acknowledged.
    ///
    /// A session that is resumed demands that all are sent again (MQTT-4.4.0-1). A clean one does not.
    private var hasManyReplaced: Bool {
        let sent = (inFlight + queue).filter { $0.publish.isRetained && $0.publish.id != 0 }
        let counts = Dictionary(sent.map { ($0.publish.topic, 1) }) { $0 + $1 }
        return counts.values.contains { $0 > Self.maximumCopies }
    }

    /// The number of retained messages for one topic that are sent again in a session.
    ///
    /// A connection that is lost once or twice should not end the session, at which the server publishes the will.
    private static let maximumCopies = 2

    /// Subscribes; nil if there is no connection.
    ///
    /// - Returns: The number that ``Event/subscribed(id:_:)`` has.
    package mutating func subscribe(_ subscriptions: [MQTTSubscription]) -> UInt16? {
        guard phase == .connected, let id = takeID() else { return nil }
        output.append(.subscribe(.init(id: id, subscriptions)))
        return id
    }

    /// Ends subscriptions; nil if there is no connection.
    package mutating func unsubscribe(_ filters: [String]) -> UInt16? {
        guard phase == .connected, let id = takeID() else { return nil }
        output.append(.unsubscribe(.init(id: id, filters)))
        return id
    }

    /// Sends what waits, as far as the window allows.
    private mutating func sendQueue(at now: Duration) {
        guard phase == .connected else { return }
        let window = min(configuration.window, limits.receiveMaximum)
        var sent = 0
        while sent < queue.count, inFlight.count < window {
            send(queue[sent])
            sent += 1
        }
        queue.removeFirst(sent)
        if waitingSince == nil, !inFlight.isEmpty { waitingSince = now }
    }

    private mutating func send(_ outgoing: Outgoing) {
        var outgoing = outgoing
        if outgoing.publish.qos != .atMostOnce, outgoing.publish.id == 0 {
            guard let id = takeID() else { return events.append(.acknowledged(token: outgoing.token, .unspecified)) }
            outgoing.publish.id = id
        }
        if let refusal = limits.refusal(of: outgoing.publish, version) {
            usedIDs.remove(outgoing.publish.id)
            return events.append(.acknowledged(token: outgoing.token, refusal))
        }
        output.append(.publish(outgoing.publish))
        if outgoing.publish.qos == .atMostOnce {
            events.append(.acknowledged(token: outgoing.token, .success))
        } else {
            inFlight.append(outgoing)
        }
    }

    /// Returns an unused packet identifier, which is not 0 (MQTT-2.2.1-3).
    private mutating func takeID() -> UInt16? {
        guard usedIDs.count < 0xFFFF else { return nil }
        repeat { lastID = lastID == .max ? 1 : lastID + 1 } while usedIDs.contains(lastID)
        usedIDs.insert(lastID)
        return lastID
    }
}

// MARK: Receiving

extension MQTTSession {
    /// Takes a packet.
    ///
    /// - Throws: ``MQTTFault`` if the server must not send it; the connection has to be closed.
    package mutating func receive(_ packet: MQTTPacket, at now: Duration) throws(MQTTFault) {
        guard phase == .connected else { return try receiveFirst(packet) }
        waitingSince = inFlight.isEmpty ? nil : now
        // On a slow link, PINGRESP is behind all that the server sent before it.
        if pingSent != nil { pingSent = now }
        switch packet {
        case .publish(let message): try receive(message)
        case .puback(let ack): acknowledge(ack, at: now)
        case .suback(let ack), .unsuback(let ack):
            usedIDs.remove(ack.id)
            events.append(.subscribed(id: ack.id, ack.reasons))
        case .pingresp: receivePingResponse()
        case .disconnect(let notice) where version == .v5 && notice.properties[number: .sessionExpiryInterval] == nil:
            events.append(.disconnected(notice.reason, notice.properties[text: .reasonString]))
        default: throw .violation("the broker sent \(packet.name), which it must not")
        }
    }

    private mutating func receivePingResponse() {
        pingSent = nil
        // One that was not asked for must not count for a later PINGREQ.
        guard pings.received < pings.sent else { return }
        pings.received += 1
        events.append(.responded(ping: pings.received))
    }

    private mutating func receiveFirst(_ packet: MQTTPacket) throws(MQTTFault) {
        guard phase == .connecting, case .connack(let connack) = packet else {
            throw .violation("the broker sent \(packet.name) before CONNACK")
        }
        guard !connack.reason.isFailure else {
            return events.append(.refused(connack.reason, connack.properties[text: .reasonString]))
        }
        guard !connack.hasSession || !startsClean else {
            throw .violation("the broker has a session, but a clean one was requested")
        }
        (phase, waitingSince) = (.connected, nil)
        limits = .init(connack, version)
        mayHaveSession = configuration.sessionExpiry > 0
        events.append(.connected(hasSession: connack.hasSession))
        resend(hasSession: connack.hasSession)
    }

    /// Sends the messages in flight again: in the session with their identifiers, in order (MQTT-4.4.0-1); without it as
    /// new ones, before those that wait.
    private mutating func resend(hasSession: Bool) {
        queue = inFlight + queue
        inFlight = []
        for index in queue.indices {
            if !hasSession { queue[index].publish.id = 0 }
            // A message that has an identifier was sent.
            queue[index].publish.isDuplicate = queue[index].publish.id != 0
        }
        usedIDs = Set(queue.map(\.publish.id)).subtracting([0])
        if !hasSession { removeReplaced() }
    }

    /// Acknowledges messages at QoS 1, in the order in which they were received (MQTT-4.6.0-2).
    ///
    /// Those of an earlier connection are left out: the server sends them again.
    ///
    /// - Parameter count: How many of all that were ever received are acknowledged, counted from the first.
    package mutating func acknowledge(received count: UInt64) {
        let acknowledged = receipts.prefix { $0.number <= count }
        receipts.removeFirst(acknowledged.count)
        guard phase == .connected else { return }
        output += acknowledged.map { .puback(.init(id: $0.id)) }
    }

    private mutating func receive(_ message: MQTTPublish) throws(MQTTFault) {
        guard message.properties[number: .topicAlias] == nil else {
            throw .init(.topicAliasInvalid, "the broker uses a topic alias, which was not allowed")
        }
        guard message.qos != .exactlyOnce else {
            throw .violation("the broker sent a message at QoS 2; the subscriptions are at most at QoS 1")
        }
        // MQTT 3.1.1 has no such limit.
        let mayReceive = receipts.count < Int(configuration.receiveMaximum) || version == .v311
        guard mayReceive || message.qos == .atMostOnce else {
            let limit = configuration.receiveMaximum
            throw .init(.receiveMaximumExceeded, "the broker exceeded the Receive Maximum of \(limit) messages")
        }
        events.append(.message(message))
        guard message.qos == .atLeastOnce else { return }
        received += 1
        receipts.append((received, message.id))
        if configuration.acknowledgesReceipt { acknowledge(received: received) }
    }

    private mutating func acknowledge(_ ack: MQTTAck, at now: Duration) {
        guard let index = inFlight.firstIndex(where: { $0.publish.id == ack.id }) else { return }
        let outgoing = inFlight.remove(at: index)
        usedIDs.remove(ack.id)
        waitingSince = inFlight.isEmpty ? nil : now
        events.append(.acknowledged(token: outgoing.token, ack.reason))
    }
}
