/// A violation of the protocol by bytes or packets that were received, or a packet that can't be sent.
package struct MQTTFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason code for the DISCONNECT packet that reports it (MQTT 5, 4.13).
    package let reason: MQTTReasonCode
    /// The fault, and its place.
    package let description: String

    package init(_ reason: MQTTReasonCode, _ description: String) {
        self.reason = reason
        self.description = description
    }

    static func malformed(_ description: String) -> Self { .init(.malformedPacket, description) }
    static func violation(_ description: String) -> Self { .init(.protocolError, description) }
}

/// A version of MQTT.
package enum MQTTVersion: UInt8, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// MQTT 3.1.1 (OASIS Standard, 2014).
    case v311 = 4
    /// MQTT 5.0 (OASIS Standard, 2019).
    case v5 = 5

    package var description: String { self == .v5 ? "MQTT 5" : "MQTT 3.1.1" }
}
