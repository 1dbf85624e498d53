/// A subscription to topics.
package struct MQTTSubscription: Hashable, Sendable {
    /// Which retained messages a subscription receives (MQTT 5).
    package enum Retained: UInt8, Hashable, Sendable, CaseIterable {
        case always = 0
        case ifNew = 1
        case never = 2
    }

    package var filter: String
    /// The highest QoS of its messages.
    package var qos: MQTTQoS
    /// Whether the client's own messages are left out (MQTT 5).
    package var excludesOwn: Bool
    /// Whether messages keep the flag of retained ones when they are passed on (MQTT 5).
    package var keepsRetain: Bool
    package var retained: Retained

    package init(
        _ filter: String,
        qos: MQTTQoS,
        excludesOwn: Bool = false,
        keepsRetain: Bool = false,
        retained: Retained = .always
    ) {
        self.filter = filter
        self.qos = qos
        self.excludesOwn = excludesOwn
        self.keepsRetain = keepsRetain
        self.retained = retained
    }

    init(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) {
        filter = try reader.text("a topic filter")
        let options = try reader.byte("the options of a subscription")
        let reserved: UInt8 = version == .v5 ? 0xC0 : 0xFC
        guard options & reserved == 0, let qos = MQTTQoS(rawValue: options & 3),
            let retained = Retained(rawValue: options >> 4 & 3)
        else { throw .malformed("the options of the subscription to '\(filter)' are \(options)") }
        (self.qos, self.retained) = (qos, retained)
        (excludesOwn, keepsRetain) = (options & 4 != 0, options & 8 != 0)
        try check()
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        try check()
        try writer.text(filter, "a topic filter")
        let options = (excludesOwn ? 4 : 0) | (keepsRetain ? 8 : 0) | retained.rawValue << 4
        writer.byte(qos.rawValue | (version == .v5 ? options : 0))
    }

    private func check() throws(MQTTFault) {
        guard MQTTTopic.isFilter(filter) else { throw .malformed("'\(filter)' is no topic filter") }
        guard filter.utf8.starts(with: "$share/".utf8) else { return }
        guard !excludesOwn else { throw .violation("a shared subscription excludes the client's own messages") }
        let parts = filter.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty, MQTTTopic.isLevel(String(parts[1]) ?? "") else {
            throw .malformed("'\(filter)' is not $share, a name and a topic filter")
        }
    }
}

/// SUBSCRIBE (3.8).
package struct MQTTSubscribe: Hashable, Sendable {
    package var id: UInt16
    package var subscriptions: [MQTTSubscription]
    package var properties: MQTTProperties

    package init(id: UInt16, _ subscriptions: [MQTTSubscription], properties: MQTTProperties = .init()) {
        self.id = id
        self.subscriptions = subscriptions
        self.properties = properties
    }

    init(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) {
        id = try reader.number16("the packet identifier")
        properties = version == .v5 ? try .init(&reader, of: .subscribe) : .init()
        subscriptions = []
        while !reader.isAtEnd { subscriptions.append(try .init(&reader, version)) }
        try check()
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        try check()
        writer.number16(id)
        if version == .v5 { try properties.write(to: &writer, of: .subscribe) }
        for subscription in subscriptions { try subscription.write(to: &writer, version) }
    }

    private func check() throws(MQTTFault) {
        guard id != 0 else { throw .malformed("the packet identifier is 0") }
        guard !subscriptions.isEmpty else { throw .violation("SUBSCRIBE has no topic filter") }
    }
}

/// UNSUBSCRIBE (3.10).
package struct MQTTUnsubscribe: Hashable, Sendable {
    package var id: UInt16
    package var filters: [String]
    package var properties: MQTTProperties

    package init(id: UInt16, _ filters: [String], properties: MQTTProperties = .init()) {
        self.id = id
        self.filters = filters
        self.properties = properties
    }

    init(_ reader: inout MQTTReader, _ version: MQTTVersion) throws(MQTTFault) {
        id = try reader.number16("the packet identifier")
        properties = version == .v5 ? try .init(&reader, of: .unsubscribe) : .init()
        filters = []
        while !reader.isAtEnd { filters.append(try reader.text("a topic filter")) }
        try check()
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        try check()
        writer.number16(id)
        if version == .v5 { try properties.write(to: &writer, of: .unsubscribe) }
        for filter in filters { try writer.text(filter, "a topic filter") }
    }

    private func check() throws(MQTTFault) {
        guard id != 0 else { throw .malformed("the packet identifier is 0") }
        guard !filters.isEmpty else { throw .violation("UNSUBSCRIBE has no topic filter") }
        guard filters.allSatisfy(MQTTTopic.isFilter) else {
            throw .malformed("UNSUBSCRIBE has an invalid topic filter")
        }
    }
}

/// SUBACK or UNSUBACK: a reason code for each topic filter (3.9 and 3.11); none for UNSUBACK in MQTT 3.1.1.
package struct MQTTFilterAck: Hashable, Sendable {
    package var id: UInt16
    package var reasons: [MQTTReasonCode]
    package var properties: MQTTProperties

    package init(id: UInt16, _ reasons: [MQTTReasonCode], properties: MQTTProperties = .init()) {
        self.id = id
        self.reasons = reasons
        self.properties = properties
    }

    init(_ reader: inout MQTTReader, _ version: MQTTVersion, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        id = try reader.number16("the packet identifier")
        guard id != 0 else { throw .malformed("the packet identifier is 0") }
        properties = version == .v5 ? try .init(&reader, of: owner) : .init()
        let hasReasons = version == .v5 || owner == .suback
        reasons = hasReasons ? reader.rest().map(MQTTReasonCode.init) : []
        try reader.end("UNSUBACK")
        guard hasReasons == !reasons.isEmpty else { throw .malformed("the acknowledgement has no reason code") }
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        writer.number16(id)
        if version == .v5 { try properties.write(to: &writer, of: owner) }
        if version == .v5 || owner == .suback { writer.raw(reasons.map(\.rawValue)) }
    }
}

/// DISCONNECT or AUTH: a reason (3.14 and 3.15).
package struct MQTTNotice: Hashable, Sendable {
    package var reason: MQTTReasonCode
    package var properties: MQTTProperties

    package init(_ reason: MQTTReasonCode = .success, properties: MQTTProperties = .init()) {
        self.reason = reason
        self.properties = properties
    }

    init(_ reader: inout MQTTReader, _ version: MQTTVersion, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        let isLong = version == .v5 && !reader.isAtEnd
        reason = isLong ? .init(rawValue: try reader.byte("the reason code")) : .success
        properties = isLong && !reader.isAtEnd ? try .init(&reader, of: owner) : .init()
        try reader.end("the packet")
    }

    func write(to writer: inout MQTTWriter, _ version: MQTTVersion, of owner: MQTTPropertyOwner) throws(MQTTFault) {
        guard version == .v5, reason != .success || !properties.isEmpty else { return }
        writer.byte(reason.rawValue)
        if !properties.isEmpty { try properties.write(to: &writer, of: owner) }
    }
}
