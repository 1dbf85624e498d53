/// Splits a stream of bytes into packets.
package struct MQTTDecoder {
    /// The version that was agreed on.
    package var version: MQTTVersion
    /// The largest packet, with its fixed header.
    private let maximumPacketSize: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - maximumPacketSize: The largest packet that is accepted, in bytes; of a larger one nothing is kept.
    package init(version: MQTTVersion, maximumPacketSize: Int = 1 << 20) {
        self.version = version
        self.maximumPacketSize = maximumPacketSize
    }

    /// Adds bytes that were received.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// Returns the next packet; nil if it is not complete.
    ///
    /// - Throws: ``MQTTFault`` for invalid bytes, after which the connection has to be closed.
    package mutating func next() throws(MQTTFault) -> MQTTPacket? {
        guard start < buffer.count else { return nil }
        try MQTTPacket.check(firstByte: buffer[start])
        guard let header = try header() else { return nil }
        let end = header.end + header.length
        guard end - start <= maximumPacketSize else {
            throw .init(.packetTooLarge, "a packet has \(end - start) bytes; the limit is \(maximumPacketSize)")
        }
        guard end <= buffer.count else { return nil }
        let first = buffer[start]
        let packet = try MQTTPacket(type: first >> 4, flags: first & 0x0F, buffer[header.end..<end], version)
        start = end
        return packet
    }

    /// Reads the fixed header (2.1); nil if it is not complete.
    private func header() throws(MQTTFault) -> (end: Int, length: Int)? {
        let bytes = buffer.dropFirst(start).dropFirst().prefix(4)
        let count = bytes.prefix { $0 & 0x80 != 0 }.count + 1
        guard count <= 4 else { throw .malformed("the remaining length has more than four bytes") }
        guard count <= bytes.count else { return nil }
        var reader = MQTTReader(bytes)
        return (bytes.startIndex + count, Int(try reader.variable("the remaining length")))
    }
}
