/// A property (MQTT 5, 2.2.2.2).
package enum MQTTPropertyName: UInt8, Hashable, Sendable, CaseIterable {
    case payloadFormatIndicator = 0x01
    case messageExpiryInterval = 0x02
    case contentType = 0x03
    case responseTopic = 0x08
    case correlationData = 0x09
    case subscriptionIdentifier = 0x0B
    case sessionExpiryInterval = 0x11
    case assignedClientIdentifier = 0x12
    case serverKeepAlive = 0x13
    case authenticationMethod = 0x15
    case authenticationData = 0x16
    case requestProblemInformation = 0x17
    case willDelayInterval = 0x18
    case requestResponseInformation = 0x19
    case responseInformation = 0x1A
    case serverReference = 0x1C
    case reasonString = 0x1F
    case receiveMaximum = 0x21
    case topicAliasMaximum = 0x22
    case topicAlias = 0x23
    case maximumQoS = 0x24
    case retainAvailable = 0x25
    case userProperty = 0x26
    case maximumPacketSize = 0x27
    case wildcardSubscriptionAvailable = 0x28
    case subscriptionIdentifierAvailable = 0x29
    case sharedSubscriptionAvailable = 0x2A
}

/// A part of the protocol with properties: a packet, or the will.
enum MQTTPropertyOwner: Hashable {
    case connect, connack, publish, will, puback, pubrec, pubrel, pubcomp, subscribe, suback, unsubscribe, unsuback
    case disconnect, auth
}

extension MQTTPropertyName {
    enum Kind { case byte, number16, number32, variable, text, data, pair }

    /// The type of the value.
    var kind: Kind {
        switch self {
        case .payloadFormatIndicator, .requestProblemInformation, .requestResponseInformation, .maximumQoS,
            .retainAvailable, .wildcardSubscriptionAvailable, .subscriptionIdentifierAvailable,
            .sharedSubscriptionAvailable:
            .byte
        case .serverKeepAlive, .receiveMaximum, .topicAliasMaximum, .topicAlias: .number16
        case .messageExpiryInterval, .sessionExpiryInterval, .willDelayInterval, .maximumPacketSize: .number32
        case .subscriptionIdentifier: .variable
        case .correlationData, .authenticationData: .data
        case .userProperty: .pair
        default: .text
        }
    }

    /// The values that a number may have: flags are 0 or 1, and some numbers can't be 0.
    var range: ClosedRange<UInt32> {
        switch self {
        case .receiveMaximum, .topicAlias: 1...0xFFFF
        case .maximumPacketSize: 1...UInt32.max
        case .subscriptionIdentifier: 1...0xFFF_FFFF
        default: kind == .byte ? 0...1 : 0...UInt32.max
        }
    }

    /// The packets that may have the property, or the will.
    var owners: Set<MQTTPropertyOwner> {
        switch self {
        case .payloadFormatIndicator, .messageExpiryInterval, .contentType, .responseTopic, .correlationData:
            [.publish, .will]
        case .subscriptionIdentifier: [.publish, .subscribe]
        case .sessionExpiryInterval: [.connect, .connack, .disconnect]
        case .authenticationMethod, .authenticationData: [.connect, .connack, .auth]
        case .requestProblemInformation, .requestResponseInformation: [.connect]
        case .willDelayInterval: [.will]
        case .serverReference: [.connack, .disconnect]
        case .reasonString: Self.responses
        case .receiveMaximum, .topicAliasMaximum, .maximumPacketSize: [.connect, .connack]
        case .topicAlias: [.publish]
        case .userProperty: Self.responses.union([.connect, .publish, .will, .subscribe, .unsubscribe])
        default: [.connack]
        }
    }

    private static let responses: Set<MQTTPropertyOwner> = [
        .connack, .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .disconnect, .auth,
    ]
}
