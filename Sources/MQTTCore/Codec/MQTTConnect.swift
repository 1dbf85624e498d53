/// The quality of service of a message (4.3).
package enum MQTTQoS: UInt8, Hashable, Sendable, Comparable, CaseIterable {
    case atMostOnce = 0
    case atLeastOnce = 1
    case exactlyOnce = 2

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The message that the server publishes when a connection is lost (3.1.2.5).
package struct MQTTWill: Hashable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    package var qos: MQTTQoS
    package var isRetained: Bool
    /// `willDelayInterval`, `messageExpiryInterval` and others; MQTT 5 only.
    package var properties: MQTTProperties

    package init(
        topic: String,
        payload: [UInt8],
        qos: MQTTQoS = .atLeastOnce,
        isRetained: Bool = false,
        properties: MQTTProperties = .init()
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.properties = properties
    }
}

/// CONNECT: the first packet of a client (3.1).
package struct MQTTConnect: Hashable, Sendable {
    package var clientID: String
    /// Whether the server forgets the session of before: Clean Start, or Clean Session in MQTT 3.1.1.
    package var startsClean: Bool
    /// In seconds; 0 for none.
    package var keepAlive: UInt16
    package var userName: String?
    package var password: [UInt8]?
    package var will: MQTTWill?
    package var properties: MQTTProperties

    package init(
        clientID: String,
        startsClean: Bool = true,
        keepAlive: UInt16 = 60,
        userName: String? = nil,
        password: [UInt8]? = nil,
        will: MQTTWill? = nil,
        properties: MQTTProperties = .init()
    ) {
        self.clientID = clientID
        self.startsClean = startsClean
        self.keepAlive = keepAlive
        self.userName = userName
        self.password = password
        self.will = will
        self.properties = properties
    }
}

extension MQTTConnect {
    private enum Flag {
        static let startsClean: UInt8 = 0x02
        static let will: UInt8 = 0x04
        static let willRetain: UInt8 = 0x20
        static let password: UInt8 = 0x40
        static let userName: UInt8 = 0x80
    }

    init(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) {
        let name = try reader.text("the protocol's name")
        let level = try reader.byte("the protocol's version")
        guard name == "MQTT", level == version.rawValue else {
            throw .init(.unsupportedProtocolVersion, "the protocol is '\(name)' version \(level), not \(version)")
        }
        let flags = try reader.byte("the connect flags")
        try Self.check(flags, version)
        startsClean = flags & Flag.startsClean != 0
        keepAlive = try reader.number16("the keep-alive")
        properties = version == .v5 ? try .init(&reader, of: .connect) : .init()
        clientID = try reader.text("the client identifier")
        will = flags & Flag.will != 0 ? try .init(&reader, flags, version) : nil
        userName = flags & Flag.userName != 0 ? try reader.text("the user name") : nil
        password = flags & Flag.password != 0 ? try reader.data("the password") : nil
        try reader.end("CONNECT")
    }

    private static func check(_ flags: UInt8, _ version: MQTTVersion) throws(MQTTFault) {
        guard flags & 1 == 0 else { throw .malformed("the reserved connect flag is set") }
        let qos = flags >> 3 & 3
        guard qos < 3 else { throw .malformed("the will's QoS is 3") }
        guard flags & Flag.will != 0 || qos == 0 && flags & Flag.willRetain == 0 else {
            throw .malformed("there are flags of a will, but no will")
        }
        guard version == .v5 || flags & Flag.password == 0 || flags & Flag.userName != 0 else {
            throw .malformed("there is a password, but no user name")
        }
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        let flags = flags
        try Self.check(flags, version)
        try writer.text("MQTT", "the protocol's name")
        writer.byte(version.rawValue)
        writer.byte(flags)
        writer.number16(keepAlive)
        if version == .v5 { try properties.write(to: &writer, of: .connect) }
        try writer.text(clientID, "the client identifier")
        try will?.write(to: &writer, version)
        if let userName { try writer.text(userName, "the user name") }
        if let password { try writer.data(password, "the password") }
    }

    private var flags: UInt8 {
        var flags: UInt8 = startsClean ? Flag.startsClean : 0
        if let will { flags |= Flag.will | will.qos.rawValue << 3 | (will.isRetained ? Flag.willRetain : 0) }
        if password != nil { flags |= Flag.password }
        return userName == nil ? flags : flags | Flag.userName
    }
}

extension MQTTWill {
    fileprivate init(_ reader: inout MQTTReader, _ flags: UInt8, _ version: MQTTVersion) throws(MQTTFault) {
        properties = version == .v5 ? try .init(&reader, of: .will) : .init()
        topic = try reader.text("the will's topic")
        payload = try reader.data("the will's payload")
        qos = MQTTQoS(rawValue: flags >> 3 & 3) ?? .atMostOnce
        isRetained = flags & 0x20 != 0
        guard MQTTTopic.isName(topic) else { throw .malformed("the will's topic is no topic name") }
    }

    fileprivate func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        guard MQTTTopic.isName(topic) else { throw .malformed("the will's topic is no topic name") }
        if version == .v5 { try properties.write(to: &writer, of: .will) }
        try writer.text(topic, "the will's topic")
        try writer.data(payload, "the will's payload")
    }
}

/// CONNACK: the response to CONNECT (3.2).
package struct MQTTConnAck: Hashable, Sendable {
    /// Whether the server still has the session of before.
    package var hasSession: Bool
    package var reason: MQTTReasonCode
    package var properties: MQTTProperties

    package init(hasSession: Bool, reason: MQTTReasonCode, properties: MQTTProperties = .init()) {
        self.hasSession = hasSession
        self.reason = reason
        self.properties = properties
    }
}

extension MQTTConnAck {
    /// A server without MQTT 5 refuses it in the form of MQTT 3.1.1, without properties.
    init(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) {
        let flags = try reader.byte("the flags")
        guard flags < 2 else { throw .malformed("reserved flags of CONNACK are set") }
        hasSession = flags == 1
        let code = try reader.byte("the reason code")
        if version == .v5, !reader.isAtEnd {
            reason = .init(rawValue: code)
            properties = try .init(&reader, of: .connack)
        } else {
            guard let reason = MQTTReasonCode(returnCode: code) else { throw .malformed("the return code is \(code)") }
            (self.reason, properties) = (reason, .init())
            guard version == .v311 || reason.isFailure else { throw .malformed("CONNACK has no properties") }
        }
        guard !hasSession || reason == .success else { throw .violation("a refusal claims that there is a session") }
        try reader.end("CONNACK")
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        guard !hasSession || reason == .success else { throw .violation("a refusal claims that there is a session") }
        writer.byte(hasSession ? 1 : 0)
        writer.byte(version == .v5 ? reason.rawValue : reason.returnCode)
        if version == .v5 { try properties.write(to: &writer, of: .connack) }
    }
}
