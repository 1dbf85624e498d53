extension Array where Element == UInt8 {
    /// Appends a number's bytes in an order.
    mutating func append<Value: FixedWidthInteger>(_ value: Value, in order: ByteOrder) {
        Swift.withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian) { append(contentsOf: $0) }
    }

    /// Overwrites bytes from a position on with a number's bytes in an order.
    mutating func overwrite<Value: FixedWidthInteger>(at start: Int, with value: Value, in order: ByteOrder) {
        Swift.withUnsafeBytes(of: order == .little ? value.littleEndian : value.bigEndian) { bytes in
            for position in bytes.indices { self[start + position] = bytes[position] }
        }
    }
}
