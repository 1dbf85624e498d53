import FuzzSupport
import HTTPSerialization
import HTTPTypes
import NetworkClientCore

/// Any boundary, names, types, fields and contents as a form: what is sent is read by a strict reader as the parts that it
/// was made of, and by a lenient one as no more of them.
@main
enum FuzzMultipart {
    static func main() {
        Fuzzer.run { start, count in
            FuzzMultipart.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    private static func run(_ input: [UInt8]) {
        var fields = InputFields(input)
        let boundary = fields.text
        var parts: [FormPart] = []
        while !fields.isAtEnd { parts += FormPart(&fields).map { [$0] } ?? [] }
        guard let body = try? MultipartForm(parts.map(\.part)).encoded(boundary: boundary) else { return }
        let bytes = body.pieces.flatMap { piece in if case .bytes(let bytes) = piece { bytes } else { [UInt8]() } }
        Fuzzer.expect(body.length { _ in 0 } == Int64(bytes.count), "\(bytes.count) bytes are not what was announced")
        let delimiter = Array("--\(boundary)".utf8)
        Fuzzer.expect(
            FormReader.lines(startingWith: delimiter, in: bytes) == parts.count + 1,
            "a lenient reader finds another number of parts than \(parts.count)"
        )
        guard let read = FormReader.parts(of: bytes, delimiter) else {
            return Fuzzer.expect(false, "a strict reader can't read \(String(decoding: bytes, as: UTF8.self))")
        }
        Fuzzer.expect(read.count == parts.count, "\(read.count) parts were read, not \(parts.count)")
        for (part, read) in zip(parts, read) { part.check(head: read.head, content: read.content) }
    }
}

/// The fields of an input, each behind a byte that says how long it is.
private struct InputFields {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next byte; 0 at the end.
    var byte: UInt8 {
        mutating get { rest.popFirst() ?? 0 }
    }

    var bytes: [UInt8] {
        mutating get {
            let count = Int(byte)
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
    }

    var text: String {
        mutating get { String(decoding: bytes, as: UTF8.self) }
    }
}

/// A part of a form, and what a reader is to find of it.
private struct FormPart {
    let part: MultipartPart
    private let name: String?
    private let fileName: String?
    private let content: [UInt8]

    /// Makes a part of the next fields; nil where they have a header field that can't be one.
    init?(_ fields: inout InputFields) {
        let kind = fields.byte & 3
        let (name, extra) = (fields.text, fields.text)
        content = fields.bytes
        switch kind {
        case 0: part = .bytes(content, name: name)
        case 1: part = .bytes(content, name: name, fileName: extra)
        case 2: part = .bytes(content, name: name, contentType: extra)
        default:
            guard let field = HTTPField.Name(name) else { return nil }
            part = .part(headers: [field: extra], body: content)
        }
        self.name = kind == 3 ? nil : name
        fileName = kind == 1 ? extra : nil
    }

    func check(head: [[UInt8]], content: [UInt8]) {
        Fuzzer.expect(content == self.content, "a part has changed to '\(String(decoding: content, as: UTF8.self))'")
        for line in head {
            let isLine = line.contains(UInt8(ascii: ":")) && !line.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F }
            Fuzzer.expect(isLine, "'\(String(decoding: line, as: UTF8.self))' is no header field")
        }
        guard let name else { return Fuzzer.expect(head.count == 1, "\(head.count) fields were read") }
        let disposition = head.first ?? []
        let prefix = Array("Content-Disposition: form-data; name=\"".utf8)
        Fuzzer.expect(disposition.starts(with: prefix), "the name is missing")
        var rest = disposition.dropFirst(prefix.count)
        check(name, &rest)
        if let fileName {
            let prefix = Array("; filename=\"".utf8)
            Fuzzer.expect(rest.starts(with: prefix), "the file name is missing")
            rest = rest.dropFirst(prefix.count)
            check(fileName, &rest)
        }
        Fuzzer.expect(rest.isEmpty, "something follows the names")
    }

    /// Takes a quoted name: it ends at the same quote for a reader that knows quoted pairs and for one that doesn't.
    private func check(_ name: String, _ rest: inout ArraySlice<UInt8>) {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        let text = rest.prefix { $0 != quote }
        var isPair = false
        for byte in text { isPair = byte == backslash && !isPair }
        Fuzzer.expect(!isPair && text.endIndex < rest.endIndex, "the name '\(name)' is not closed")
        let isSame = PercentEncoding.decoded(text) == PercentEncoding.decoded(Array(name.utf8)[...])
        Fuzzer.expect(isSame, "'\(name)' has become '\(String(decoding: text, as: UTF8.self))'")
        rest = rest[(text.endIndex + 1)...]
    }
}

/// Readers of forms.
private enum FormReader {
    /// The parts of a body, by the letter of RFC 2046, 5.1.1, without preamble, padding and epilogue; nil where it is none.
    static func parts(of body: [UInt8], _ delimiter: [UInt8]) -> [(head: [[UInt8]], content: [UInt8])]? {
        let lineEnd: [UInt8] = [13, 10]
        // The first delimiter's line end is left out.
        var pieces = split(lineEnd + body, at: lineEnd + delimiter)[...]
        guard pieces.popFirst() == [], pieces.popLast() == Array("--\r\n".utf8) else { return nil }
        var parts: [(head: [[UInt8]], content: [UInt8])] = []
        for piece in pieces {
            guard piece.starts(with: lineEnd) else { return nil }
            let text = Array(piece.dropFirst(2))
            guard let end = position(of: lineEnd + lineEnd, in: text, from: 0) else { return nil }
            parts.append((split(Array(text[..<end]), at: lineEnd), Array(text[(end + 4)...])))
        }
        return parts
    }

    /// How many lines begin with a delimiter, whatever a line ends with.
    static func lines(startingWith delimiter: [UInt8], in body: [UInt8]) -> Int {
        body.indices.count { index in
            (index == 0 || body[index - 1] == 10 || body[index - 1] == 13) && body[index...].starts(with: delimiter)
        }
    }

    private static func split(_ bytes: [UInt8], at separator: [UInt8]) -> [[UInt8]] {
        var (pieces, start): ([[UInt8]], Int) = ([], 0)
        while let next = position(of: separator, in: bytes, from: start) {
            pieces.append(Array(bytes[start..<next]))
            start = next + separator.count
        }
        return pieces + [Array(bytes[start...])]
    }

    private static func position(of pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count - start >= pattern.count else { return nil }
        return (start...(bytes.count - pattern.count)).first { bytes[$0...].starts(with: pattern) }
    }
}
