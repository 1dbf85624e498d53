import FuzzSupport
import NetworkClientCore

/// Any `Content-Disposition` and any path of a URL: the name for the file is safe as the last component of a path, a safe
/// name stays as it is, and a name that is written by RFC 8187 is read again.
@main
enum FuzzFileName {
    static func main() {
        Fuzzer.run { start, count in
            FuzzFileName.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first line is the field, the rest the path.
    private static func run(_ input: [UInt8]) {
        let (field, rest) = InputText.firstLineAndRest(input)
        let path = String(decoding: rest, as: UTF8.self)
        let name = SuggestedFileName.name(fields: [field], path: path)
        check(name, field)
        check(SuggestedFileName.name(fields: [], path: path), path)
        Fuzzer.expect(SuggestedFileName.safe(name) == name, "'\(name)' is not safe yet")
        checkExtended(name)
        checkExtended(path)
    }

    private static func check(_ name: String, _ source: String) {
        let bytes = Array(name.utf8)
        Fuzzer.expect((1...255).contains(bytes.count), "'\(source)' gives \(bytes.count) bytes")
        Fuzzer.expect(bytes.first != UInt8(ascii: "."), "'\(source)' gives '\(name)' with a leading dot")
        for byte in bytes {
            let isUnsafe = byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
            Fuzzer.expect(!isUnsafe, "'\(source)' gives '\(name)' with the byte \(byte)")
        }
    }

    /// Writes a text as an extended value, and reads it.
    private static func checkExtended(_ text: String) {
        let escaped = PercentEncoding.encoded(text.utf8) { $0.isASCIIAlphanumeric }
        for field in ["attachment; filename*=UTF-8''\(escaped)", "x;filename=a;FILENAME* = utf-8'de'\(escaped) ;y"] {
            let read = ContentDisposition(field).fileName
            Fuzzer.expect(read == text, "'\(text)' is read as '\(read ?? "nothing")'")
        }
    }
}
