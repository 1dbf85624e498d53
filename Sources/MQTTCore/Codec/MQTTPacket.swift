/// A control packet (chapter 3).
package enum MQTTPacket: Hashable, Sendable {
    case connect(MQTTConnect)
    case connack(MQTTConnAck)
    case publish(MQTTPublish)
    case puback(MQTTAck)
    case pubrec(MQTTAck)
    case pubrel(MQTTAck)
    case pubcomp(MQTTAck)
    case subscribe(MQTTSubscribe)
    case suback(MQTTFilterAck)
    case unsubscribe(MQTTUnsubscribe)
    case unsuback(MQTTFilterAck)
    case pingreq
    case pingresp
    case disconnect(MQTTNotice)
    case auth(MQTTNotice)
}

extension MQTTPacket {
    /// The largest rest of a packet after its fixed header.
    static let maximumLength = 0xFFF_FFFF

    /// Returns the bytes of the packet.
    ///
    /// - Throws: ``MQTTFault`` if it breaks a rule, or is larger than a packet can be.
    package func encoded(as version: MQTTVersion) throws(MQTTFault) -> [UInt8] {
        var body = MQTTWriter()
        try write(to: &body, version)
        guard body.bytes.count <= Self.maximumLength else {
            throw .init(.packetTooLarge, "\(name) has \(body.bytes.count) bytes; a packet has at most 268435455")
        }
        var writer = MQTTWriter()
        writer.byte(type << 4 | flags)
        writer.variable(body.bytes.count)
        writer.raw(body.bytes)
        return writer.bytes
    }

    private func write(to writer: inout MQTTWriter, _ version: MQTTVersion) throws(MQTTFault) {
        switch self {
        case .connect(let packet): try packet.write(to: &writer, version)
        case .connack(let packet): try packet.write(to: &writer, version)
        case .publish(let packet): try packet.write(to: &writer, version)
        case .puback(let packet): try packet.write(to: &writer, version, of: .puback)
        case .pubrec(let packet): try packet.write(to: &writer, version, of: .pubrec)
        case .pubrel(let packet): try packet.write(to: &writer, version, of: .pubrel)
        case .pubcomp(let packet): try packet.write(to: &writer, version, of: .pubcomp)
        case .subscribe(let packet): try packet.write(to: &writer, version)
        case .suback(let packet): try packet.write(to: &writer, version, of: .suback)
        case .unsubscribe(let packet): try packet.write(to: &writer, version)
        case .unsuback(let packet): try packet.write(to: &writer, version, of: .unsuback)
        case .pingreq, .pingresp: break
        case .disconnect(let packet): try packet.write(to: &writer, version, of: .disconnect)
        case .auth(let packet):
            guard version == .v5 else { throw .violation("MQTT 3.1.1 has no AUTH") }
            try packet.write(to: &writer, version, of: .auth)
        }
    }

    /// Reads a packet without its fixed header.
    init(type: UInt8, flags: UInt8, _ body: ArraySlice<UInt8>, _ version: MQTTVersion) throws(MQTTFault) {
        var reader = MQTTReader(body)
        switch type {
        case 1: self = .connect(try .init(&reader, version))
        case 2: self = .connack(try .init(&reader, version))
        case 3: self = .publish(try .init(&reader, flags: flags, version))
        case 4: self = .puback(try .init(&reader, version, of: .puback))
        case 5: self = .pubrec(try .init(&reader, version, of: .pubrec))
        case 6: self = .pubrel(try .init(&reader, version, of: .pubrel))
        case 7: self = .pubcomp(try .init(&reader, version, of: .pubcomp))
        case 8: self = .subscribe(try .init(&reader, version))
        case 9: self = .suback(try .init(&reader, version, of: .suback))
        case 10: self = .unsubscribe(try .init(&reader, version))
        case 11: self = .unsuback(try .init(&reader, version, of: .unsuback))
        case 12, 13:
            try reader.end(type == 12 ? "PINGREQ" : "PINGRESP")
            self = type == 12 ? .pingreq : .pingresp
        case 14: self = .disconnect(try .init(&reader, version, of: .disconnect))
        case 15 where version == .v5: self = .auth(try .init(&reader, version, of: .auth))
        default: throw .malformed("there is no packet type \(type) in \(version)")
        }
    }

    /// Checks the first byte of a packet: what is no broker is noticed by it, however long the packet claims to be.
    static func check(firstByte: UInt8) throws(MQTTFault) {
        let (type, flags) = (firstByte >> 4, firstByte & 0x0F)
        guard type != 0, type == 3 || flags == Self.flags(ofType: type) else {
            throw .malformed("no packet begins with the byte \(firstByte)")
        }
    }

    /// The packet's number (2.1.2).
    private var type: UInt8 {
        switch self {
        case .connect: 1
        case .connack: 2
        case .publish: 3
        case .puback: 4
        case .pubrec: 5
        case .pubrel: 6
        case .pubcomp: 7
        case .subscribe: 8
        case .suback: 9
        case .unsubscribe: 10
        case .unsuback: 11
        case .pingreq: 12
        case .pingresp: 13
        case .disconnect: 14
        case .auth: 15
        }
    }

    private var flags: UInt8 {
        guard case .publish(let publish) = self else { return Self.flags(ofType: type) }
        return publish.flags
    }

    /// The flags that a packet must have (2.1.3).
    private static func flags(ofType type: UInt8) -> UInt8 { [6, 8, 10].contains(type) ? 2 : 0 }

    /// The name in the specification.
    package var name: String {
        let names = [
            "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP", "SUBSCRIBE", "SUBACK",
            "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH",
        ]
        return names[Int(type) - 1]
    }
}
