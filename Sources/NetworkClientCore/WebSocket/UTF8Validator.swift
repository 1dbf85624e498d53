/// Validates UTF-8 piece by piece (RFC 3629, 4), and rejects it at the first wrong byte.
package struct UTF8Validator: Sendable, Hashable {
    /// The number of bytes that the current character still needs.
    private var needed: UInt8 = 0
    /// The lowest and the highest value of its next byte.
    private var (lowest, highest): (UInt8, UInt8) = (0x80, 0xBF)

    /// Creates a validator at the start of a text.
    package init() {}

    /// Whether the bytes so far end with a whole character.
    package var isComplete: Bool { needed == 0 }

    /// Validates the next bytes.
    ///
    /// - Returns: Whether they can be part of a text, after the bytes so far. After false, the text is invalid.
    package mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            if needed == 0, position + 8 <= bytes.count, Self.isASCII(bytes, at: position) {
                position += 8
                continue
            }
            guard accepts(bytes[position]) else { return false }
            position += 1
        }
        return true
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer, at position: Int) -> Bool {
        bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    }

    private mutating func accepts(_ byte: UInt8) -> Bool {
        guard needed == 0 else {
            guard lowest...highest ~= byte else { return false }
            needed -= 1
            (lowest, highest) = (0x80, 0xBF)
            return true
        }
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: begin(1)
        case 0xE0: begin(2, from: 0xA0)
        case 0xED: begin(2, to: 0x9F)
        case 0xE1...0xEF: begin(2)
        case 0xF0: begin(3, from: 0x90)
        case 0xF1...0xF3: begin(3)
        case 0xF4: begin(3, to: 0x8F)
        default: return false
        }
        return true
    }

    private mutating func begin(_ count: UInt8, from lowest: UInt8 = 0x80, to highest: UInt8 = 0xBF) {
        needed = count
        (self.lowest, self.highest) = (lowest, highest)
    }
}
