/// Reads the data types of MQTT (1.5) from the body of a packet.
struct MQTTReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func byte(_ what: String) throws(MQTTFault) -> UInt8 {
        guard position < bytes.endIndex else { throw .malformed("the packet ends before \(what)") }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number16(_ what: String) throws(MQTTFault) -> UInt16 {
        UInt16(try byte(what)) << 8 | UInt16(try byte(what))
    }

    mutating func number32(_ what: String) throws(MQTTFault) -> UInt32 {
        UInt32(try number16(what)) << 16 | UInt32(try number16(what))
    }

    /// Reads a variable byte integer; it must have the minimum number of bytes (MQTT-1.5.5-1).
    mutating func variable(_ what: String) throws(MQTTFault) -> UInt32 {
        var value: UInt32 = 0
        for shift in stride(from: UInt32(0), through: 21, by: 7) {
            let byte = try byte(what)
            value |= UInt32(byte & 0x7F) << shift
            guard byte & 0x80 == 0 else { continue }
            guard byte != 0 || shift == 0 else { throw .malformed("\(what) has more bytes than it needs") }
            return value
        }
        throw .malformed("\(what) has more than four bytes")
    }

    /// Reads bytes with their count before them.
    mutating func data(_ what: String) throws(MQTTFault) -> [UInt8] {
        Array(try take(Int(try number16(what)), what))
    }

    /// Reads a text: UTF-8 without U+0000 (MQTT-1.5.4-1 and 2).
    mutating func text(_ what: String) throws(MQTTFault) -> String {
        let encoded = try take(Int(try number16(what)), what)
        guard let text = String(validating: encoded, as: UTF8.self) else { throw .malformed("\(what) is not UTF-8") }
        guard !encoded.contains(0) else { throw .malformed("\(what) has a null character") }
        return text
    }

    /// Reads the rest.
    mutating func rest() -> ArraySlice<UInt8> {
        defer { position = bytes.endIndex }
        return bytes[position...]
    }

    mutating func take(_ count: Int, _ what: String) throws(MQTTFault) -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - position else { throw .malformed("the packet ends within \(what)") }
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    /// Throws an error if something follows.
    func end(_ packet: String) throws(MQTTFault) {
        guard isAtEnd else { throw .malformed("\(bytes.endIndex - position) bytes follow the end of \(packet)") }
    }
}

/// Writes the data types of MQTT (1.5).
struct MQTTWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func number16(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }

    mutating func number32(_ value: UInt32) {
        number16(UInt16(value >> 16))
        number16(UInt16(truncatingIfNeeded: value))
    }

    mutating func variable(_ value: Int) {
        var rest = value
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
    }

    mutating func data(_ value: [UInt8], _ what: String) throws(MQTTFault) {
        guard value.count <= 0xFFFF else { throw .init(.packetTooLarge, "\(what) has more than 65535 bytes") }
        number16(UInt16(value.count))
        bytes += value
    }

    mutating func text(_ value: String, _ what: String) throws(MQTTFault) {
        let encoded = Array(value.utf8)
        guard !encoded.contains(0) else { throw .malformed("\(what) has a null character") }
        try data(encoded, what)
    }

    mutating func raw(_ value: some Sequence<UInt8>) { bytes += value }
}
