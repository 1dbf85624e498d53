import CommandLineSupport
import NetworkClient

/// Reads `Name: value`, as `--header` takes it.
enum FieldArgument {
    /// Reads a field of the request's head (RFC 9110, 5).
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> HTTPField {
        guard let colon = text.firstIndex(of: ":") else { throw .init("the ':' is missing; \(howTo)") }
        guard let name = HTTPField.Name(String(text[..<colon])) else {
            throw .init("what comes before the ':' is no field's name; \(howTo)")
        }
        guard !framing.contains(name) else { throw .init("\(name.rawName) follows from the body; leave it out") }
        let value = text[text.index(after: colon)...]
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .init("the value has a line's end or another control character; leave it out")
        }
        return .init(name: name, value: String(value))
    }

    private static let howTo = "write 'Name: value', such as 'Accept: application/json'"

    /// What says where a body ends, which a wrong value would let server and client understand differently.
    private static let framing = [HTTPField.Name.contentLength, .transferEncoding]
}
