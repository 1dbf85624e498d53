/// The limits that the server of a connection sets (3.2.2.3).
struct MQTTLimits: Hashable, Sendable {
    var receiveMaximum = 0xFFFF
    var maximumPacketSize = UInt32.max
    var maximumQoS = MQTTQoS.exactlyOnce
    var allowsRetained = true
    /// The keep-alive that the server demands, in seconds.
    var keepAlive: UInt16?

    init() {}

    init(_ connack: MQTTConnAck, _ version: MQTTVersion) {
        guard version == .v5 else { return }
        let properties = connack.properties
        receiveMaximum = properties[number: .receiveMaximum].map(Int.init) ?? 0xFFFF
        maximumPacketSize = properties[number: .maximumPacketSize] ?? .max
        maximumQoS = properties[number: .maximumQoS].flatMap { MQTTQoS(rawValue: UInt8($0)) } ?? .exactlyOnce
        allowsRetained = properties[number: .retainAvailable] != 0
        keepAlive = properties[number: .serverKeepAlive].map { UInt16($0) }
    }

    /// Returns why a message must not be sent; nil if it may.
    func refusal(of message: MQTTPublish, _ version: MQTTVersion) -> MQTTReasonCode? {
        guard message.qos <= maximumQoS else { return .qosNotSupported }
        guard allowsRetained || !message.isRetained else { return .retainNotSupported }
        guard message.properties[number: .topicAlias] == nil else { return .topicAliasInvalid }
        guard message.properties[number: .subscriptionIdentifier] == nil else { return .protocolError }
        do throws(MQTTFault) {
            let size = try MQTTPacket.publish(message).encoded(as: version).count
            return size <= Int(maximumPacketSize) ? nil : .packetTooLarge
        } catch {
            return error.reason
        }
    }
}
