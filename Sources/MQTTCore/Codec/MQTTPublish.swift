/// PUBLISH: a message (3.3).
package struct MQTTPublish: Hashable, Sendable {
    /// The topic; empty if a topic alias stands for it.
    package var topic: String
    package var payload: [UInt8]
    package var qos: MQTTQoS
    package var isRetained: Bool
    /// Whether it may have been sent before.
    package var isDuplicate: Bool
    /// The packet identifier; 0 at QoS 0.
    package var id: UInt16
    package var properties: MQTTProperties

    package init(
        topic: String,
        payload: [UInt8],
        qos: MQTTQoS,
        isRetained: Bool = false,
        isDuplicate: Bool = false,
        id: UInt16 = 0,
        properties: MQTTProperties = .init()
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.isDuplicate = isDuplicate
        self.id = id
        self.properties = properties
    }
}

extension MQTTPublish {
    init(_ reader: inout MQTTReader, flags: UInt8, _ version: MQTTVersion) throws(MQTTFault) {
        guard let qos = MQTTQoS(rawValue: flags >> 1 & 3) else { throw .malformed("the QoS of PUBLISH is 3") }
        self.qos = qos
        isDuplicate = flags & 8 != 0
        isRetained = flags & 1 != 0
        topic = try reader.text("the topic")
        id = qos == .atMostOnce ? 0 : try reader.number16("the packet identifier")
        properties = version == .v5 ? try .init(&reader, of: .publish) : .init()
        payload = Array(reader.rest())
        try check()
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        try check()
        try writer.text(topic, "the topic")
        if qos != .atMostOnce { writer.number16(id) }
        if version == .v5 { try properties.write(to: &writer, of: .publish) }
        writer.raw(payload)
    }

    var flags: UInt8 { (isDuplicate ? 8 : 0) | qos.rawValue << 1 | (isRetained ? 1 : 0) }

    private func check() throws(MQTTFault) {
        let hasAlias = topic.isEmpty && properties[number: .topicAlias] != nil
        guard hasAlias || MQTTTopic.isName(topic) else { throw .malformed("the topic is empty or has a wildcard") }
        guard qos != .atMostOnce || !isDuplicate else { throw .malformed("a message at QoS 0 is marked a duplicate") }
        guard qos == .atMostOnce || id != 0 else { throw .malformed("the packet identifier is 0") }
        guard properties[text: .responseTopic].map(MQTTTopic.isName) ?? true else {
            throw .violation("the response topic is empty or has a wildcard")
        }
    }
}

/// PUBACK, PUBREC, PUBREL or PUBCOMP: a step in the delivery of a message (3.4 to 3.7).
package struct MQTTAck: Hashable, Sendable {
    package var id: UInt16
    package var reason: MQTTReasonCode
    package var properties: MQTTProperties

    package init(id: UInt16, reason: MQTTReasonCode = .success, properties: MQTTProperties = .init()) {
        self.id = id
        self.reason = reason
        self.properties = properties
    }

    init(_ reader: inout MQTTReader, _ version: MQTTVersion, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        id = try reader.number16("the packet identifier")
        guard id != 0 else { throw .malformed("the packet identifier is 0") }
        let isLong = version == .v5 && !reader.isAtEnd
        reason = isLong ? .init(rawValue: try reader.byte("the reason code")) : .success
        properties = isLong && !reader.isAtEnd ? try .init(&reader, of: owner) : .init()
        try reader.end("the acknowledgement")
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        writer.number16(id)
        guard version == .v5, reason != .success || !properties.isEmpty else { return }
        writer.byte(reason.rawValue)
        if !properties.isEmpty { try properties.write(to: &writer, of: owner) }
    }
}
