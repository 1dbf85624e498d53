/// The header of a frame (RFC 6455, 5.2).
package struct WebSocketFrame: Sendable, Hashable {
    /// The meaning of a frame's payload.
    package enum Opcode: UInt8, Sendable, Hashable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        /// Whether the frame is a control frame, which may be between the fragments of a message.
        package var isControl: Bool { rawValue >= 8 }
    }

    /// Whether it is the last frame of a message.
    package var isFinal: Bool
    /// Whether it begins a compressed message (RFC 7692, 6).
    package var isCompressed: Bool
    /// The meaning of the payload.
    package var opcode: Opcode
    /// The size of the payload in bytes.
    package var length: Int

    /// Creates a header.
    package init(_ opcode: Opcode, length: Int, isFinal: Bool = true, isCompressed: Bool = false) {
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.opcode = opcode
        self.length = length
    }

    /// The maximum size of the payload of a control frame, in bytes.
    package static let maximumControlSize = 125

    /// Returns the header of a masked frame, as the client sends it.
    ///
    /// - Parameter key: The four bytes of the masking key, in the order of memory.
    /// - Returns: The bytes.
    package func encoded(maskedBy key: UInt32) -> [UInt8] {
        var bytes = [(isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue]
        switch length {
        case ...125: bytes.append(0x80 | UInt8(length))
        case ...0xFFFF: bytes += [0x80 | 126, UInt8(length >> 8), UInt8(truncatingIfNeeded: length)]
        default:
            bytes.append(0x80 | 127)
            bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> $0) }
        }
        withUnsafeBytes(of: key) { bytes += $0 }
        return bytes
    }

    /// Masks or unmasks a payload in place (RFC 6455, 5.3).
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - key: The four bytes of the masking key, in the order of memory.
    package static func mask(_ payload: UnsafeMutableRawBufferPointer, with key: UInt32) {
        let wide = UInt64(key) << 32 | UInt64(key)
        var position = 0
        while position + 8 <= payload.count {
            let word = payload.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            payload.storeBytes(of: word ^ wide, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        withUnsafeBytes(of: wide) { bytes in
            for rest in position..<payload.count { payload[rest] ^= bytes[rest - position] }
        }
    }
}
