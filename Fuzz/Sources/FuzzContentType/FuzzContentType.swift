import FuzzSupport
import HTTPSerialization
import HTTPTypes

/// Any text as `Content-Type`, and any bytes as the text that it describes: a type that was read can be written and read
/// again, and text is converted by the character set that it names.
@main
enum FuzzContentType {
    static func main() {
        Fuzzer.run { start, count in
            FuzzContentType.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first line is the field, the rest the body.
    private static func run(_ input: [UInt8]) {
        let (field, rest) = InputText.firstLineAndRest(input)
        guard InputText.isFieldValue(field) else { return }
        let type = MediaType(field)
        if let type { checkForm(of: type, field) }
        checkText(Array(rest), field, type?.parameters["charset"]?.lowercased())
    }

    private static func checkForm(of type: MediaType, _ field: String) {
        let halves = type.essence.split(separator: "/", omittingEmptySubsequences: false)
        Fuzzer.expect(halves.count == 2 && !halves.contains(""), "'\(type.essence)' is no type")
        Fuzzer.expect(type.essence == type.essence.lowercased(), "'\(type.essence)' is not in lower case")
        for pattern in [type.essence, "*/*", "\(halves[0])/*"] {
            Fuzzer.expect(type.matches(pattern), "'\(type.essence)' does not match \(pattern)")
        }
        let parameters = type.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\(quoted($0.value))" }
        // A parameter may be missing (RFC 9110, 5.6.6), and one without a value means nothing.
        for separator in ["; ", ";;\t; ", " ; nothing;"] {
            let text = ([type.essence] + parameters).joined(separator: separator)
            Fuzzer.expect(MediaType(text) == type, "'\(field)' written as '\(text)' is \(MediaType(text) as Any)")
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        quoted.unicodeScalars.append("\"")
        return quoted
    }

    private static func checkText(_ body: [UInt8], _ field: String, _ characterSet: String?) {
        let response = HTTPResponse(status: .ok, headerFields: [.contentType: field])
        let text = try? StringResponseSerializer().serialize(response, body: body)
        switch characterSet {
        case nil, "utf-8":
            let mark: [UInt8] = body.starts(with: [0xEF, 0xBB, 0xBF]) ? [0xEF, 0xBB, 0xBF] : []
            let isText = String(validating: body, as: UTF8.self) != nil
            Fuzzer.expect((text != nil) == isText, "\(body) is \(isText ? "" : "no ")UTF-8")
            Fuzzer.expect(!isText || mark + (text ?? "").utf8 == body, "UTF-8 has changed to '\(text ?? "")'")
        case "iso-8859-1":
            let scalars = text?.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            Fuzzer.expect(scalars == body, "Latin 1 has changed to '\(text ?? "nothing")'")
        case "tscii", "big5-hkscs", "utf-16", "utf-32":
            Fuzzer.expect(text?.utf8.count ?? 0 <= 16 * body.count, "there is more text than bytes")
        default: break
        }
    }
}
