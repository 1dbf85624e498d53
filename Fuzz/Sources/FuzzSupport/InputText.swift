/// Inputs that are text, as header fields and URLs are.
public enum InputText {
    /// The first line of an input and what follows it, which may be empty.
    public static func firstLineAndRest(_ input: [UInt8]) -> (line: String, rest: ArraySlice<UInt8>) {
        let line = input.prefix { $0 != 0x0A }
        return (String(decoding: line, as: UTF8.self), input.dropFirst(line.count + 1))
    }

    /// The lines of an input.
    public static func lines(_ input: [UInt8]) -> [String] {
        input.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a text may be the value of a header field, which has no control characters but tabs (RFC 9110, 5.5).
    public static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
