/// The order in which a machine lays the bytes of an integer in memory.
///
/// Netlink messages are in the order of the machine that wrote them; a capture from another machine may have the other.
public enum ByteOrder: Sendable, Hashable, CaseIterable {
    /// Least significant byte first.
    case little
    /// Most significant byte first.
    case big

    /// The order of the machine that this program was built for.
    public static var host: Self {
        #if _endian(little)
        .little
        #else
        .big
        #endif
    }

    /// The other order.
    var opposite: Self { self == .little ? .big : .little }
}

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
