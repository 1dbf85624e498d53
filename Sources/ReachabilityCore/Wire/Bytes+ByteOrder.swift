extension Array where Element == UInt8 {
    /// Appends a number's bytes in an order.
    mutating func append<Value: FixedWidthInteger>(_ value: Value, in order: ByteOrder) {
        for position in 0..<Value.bitWidth / 8 {
            let shift = 8 * (order == .little ? position : Value.bitWidth / 8 - 1 - position)
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// Overwrites bytes from a position on with a number's bytes in an order.
    mutating func overwrite<Value: FixedWidthInteger>(at start: Int, with value: Value, in order: ByteOrder) {
        var bytes: [UInt8] = []
        bytes.append(value, in: order)
        replaceSubrange(start..<start + bytes.count, with: bytes)
    }
}
