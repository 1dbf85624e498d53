/// A reason code (MQTT 5, 2.4), or a return code of MQTT 3.1.1 as the reason that corresponds to it.
package struct MQTTReasonCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let success = Self(rawValue: 0x00)
    package static let disconnectWithWill = Self(rawValue: 0x04)
    package static let noMatchingSubscribers = Self(rawValue: 0x10)
    package static let unspecified = Self(rawValue: 0x80)
    package static let malformedPacket = Self(rawValue: 0x81)
    package static let protocolError = Self(rawValue: 0x82)
    package static let unsupportedProtocolVersion = Self(rawValue: 0x84)
    package static let clientIdentifierNotValid = Self(rawValue: 0x85)
    package static let badUserNameOrPassword = Self(rawValue: 0x86)
    package static let notAuthorized = Self(rawValue: 0x87)
    package static let serverUnavailable = Self(rawValue: 0x88)
    package static let banned = Self(rawValue: 0x8A)
    package static let keepAliveTimeout = Self(rawValue: 0x8D)
    package static let sessionTakenOver = Self(rawValue: 0x8E)
    package static let topicAliasInvalid = Self(rawValue: 0x94)
    package static let packetTooLarge = Self(rawValue: 0x95)
    package static let receiveMaximumExceeded = Self(rawValue: 0x93)
    package static let quotaExceeded = Self(rawValue: 0x97)
    package static let retainNotSupported = Self(rawValue: 0x9A)
    package static let qosNotSupported = Self(rawValue: 0x9B)

    /// Whether it reports a failure.
    package var isFailure: Bool { rawValue >= 0x80 }

    /// Whether a later connection may succeed without a change by a person (4.13.2): the server is busy, stops, restarts or moves
    /// its clients, or the client was silent for too long or too fast.
    package var isTemporary: Bool { [0x88, 0x89, 0x8B, 0x8D, 0x96, 0x98, 0x9C, 0x9F, 0xA0].contains(rawValue) }

    /// The reason that a return code of CONNACK in MQTT 3.1.1 corresponds to (3.2.2.3); nil for a reserved one.
    init?(returnCode: UInt8) {
        let reasons: [Self] = [
            .success, .unsupportedProtocolVersion, .clientIdentifierNotValid, .serverUnavailable,
            .badUserNameOrPassword,
            .notAuthorized,
        ]
        guard returnCode < reasons.count else { return nil }
        self = reasons[Int(returnCode)]
    }

    /// The return code of CONNACK in MQTT 3.1.1.
    var returnCode: UInt8 {
        (0...5).first { Self(returnCode: $0) == self } ?? 3
    }
}

extension MQTTReasonCode: CustomStringConvertible {
    /// The name in the specification, with the number.
    package var description: String {
        let number = String(rawValue, radix: 16, uppercase: true)
        return "\(Self.names[rawValue] ?? "unknown reason") (0x\(number.count < 2 ? "0" : "")\(number))"
    }

    private static let names: [UInt8: String] = [
        0x00: "success", 0x01: "granted QoS 1", 0x02: "granted QoS 2", 0x04: "disconnect with will message",
        0x10: "no matching subscribers", 0x11: "no subscription existed", 0x18: "continue authentication",
        0x19: "re-authenticate", 0x80: "unspecified error", 0x81: "malformed packet", 0x82: "protocol error",
        0x83: "implementation specific error", 0x84: "unsupported protocol version",
        0x85: "client identifier not valid", 0x86: "bad user name or password", 0x87: "not authorized",
        0x88: "server unavailable", 0x89: "server busy", 0x8A: "banned", 0x8B: "server shutting down",
        0x8C: "bad authentication method", 0x8D: "keep alive timeout", 0x8E: "session taken over",
        0x8F: "topic filter invalid", 0x90: "topic name invalid", 0x91: "packet identifier in use",
        0x92: "packet identifier not found", 0x93: "receive maximum exceeded", 0x94: "topic alias invalid",
        0x95: "packet too large", 0x96: "message rate too high", 0x97: "quota exceeded",
        0x98: "administrative action", 0x99: "payload format invalid", 0x9A: "retain not supported",
        0x9B: "QoS not supported", 0x9C: "use another server", 0x9D: "server moved",
        0x9E: "shared subscriptions not supported", 0x9F: "connection rate exceeded", 0xA0: "maximum connect time",
        0xA1: "subscription identifiers not supported", 0xA2: "wildcard subscriptions not supported",
    ]
}
