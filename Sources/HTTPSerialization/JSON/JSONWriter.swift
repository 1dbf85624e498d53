/// Writes JSON (RFC 8259) with sorted keys and all digits of numbers.
struct JSONWriter {
    private var bytes: [UInt8] = []
    private let isPretty: Bool
    private var depth = 0

    /// Returns the text of a value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - isPretty: Whether each member and element is on a line of its own.
    /// - Returns: The text in UTF-8.
    static func text(of value: JSONValue, isPretty: Bool) -> [UInt8] {
        var writer = Self(isPretty: isPretty)
        writer.write(value)
        return writer.bytes
    }

    private init(isPretty: Bool) { self.isPretty = isPretty }

    private mutating func write(_ value: JSONValue) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let value): bytes += value.description.utf8
        case .string(let value): write(value)
        case .array(let values): write(values, "[", "]") { writer, value in writer.write(value) }
        case .object(let values):
            write(values.sorted { $0.key < $1.key }, "{", "}") { writer, member in
                writer.write(member.key)
                writer.bytes += (writer.isPretty ? ": " : ":").utf8
                writer.write(member.value)
            }
        }
    }

    private mutating func write<Element>(
        _ elements: [Element],
        _ open: String,
        _ close: String,
        _ write: (inout Self, Element) -> Void
    ) {
        bytes += open.utf8
        depth += 1
        for (position, element) in elements.enumerated() {
            if position > 0 { bytes += ",".utf8 }
            breakLine()
            write(&self, element)
        }
        depth -= 1
        if !elements.isEmpty { breakLine() }
        bytes += close.utf8
    }

    private mutating func breakLine() {
        guard isPretty else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x10: bytes += "\\u000\(String(byte, radix: 16))".utf8
            case 0x10..<0x20: bytes += "\\u00\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
