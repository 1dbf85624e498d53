/// The order of an integer's bytes in memory.
///
/// Netlink messages have the byte order of the machine that wrote them, which for captures may differ from this one.
package enum ByteOrder: Sendable, Hashable, CaseIterable {
    /// Least significant byte first.
    case little
    /// Most significant byte first.
    case big

    /// The byte order of the machine that this program was built for.
    package static var host: Self {
        #if _endian(little)
        .little
        #else
        .big
        #endif
    }

    /// The other byte order.
    var opposite: Self { self == .little ? .big : .little }
}

extension Array where Element == UInt8 {
    /// Appends the bytes of a number.
    mutating func append<Value: FixedWidthInteger>(_ value: Value, in order: ByteOrder) {
        guard Value.bitWidth > 32 else {
            // Most fields of messages are short: these are faster byte by byte than as a collection.
            for byte in 0..<Value.bitWidth / 8 {
                let shift = 8 * (order == .little ? byte : Value.bitWidth / 8 - 1 - byte)
                append(UInt8(truncatingIfNeeded: value >> shift))
            }
            return
        }
        Swift.withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian) { append(contentsOf: $0) }
    }

    /// Overwrites bytes with those of a number.
    mutating func overwrite<Value: FixedWidthInteger>(at start: Int, with value: Value, in order: ByteOrder) {
        Swift.withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian) { bytes in
            for position in bytes.indices { self[start + position] = bytes[position] }
        }
    }
}
