import Glibc

/// Decodes and encodes text in the character sets of the C library (iconv(3)).
enum CharacterSetConversion {
    /// The reason why bytes can't be decoded, or text can't be encoded.
    enum Fault: Error, CustomStringConvertible {
        case unknownCharacterSet(String)
        case invalid(offset: Int, characterSet: String)
        case missing(Character, characterSet: String)

        var description: String {
            switch self {
            case .unknownCharacterSet(let name): "the character set '\(name)' is unknown; see iconv -l"
            case .invalid(let offset, let name): "byte \(offset) is not valid in the character set '\(name)'"
            case .missing(let character, let name): "the character set '\(name)' has no '\(character)'"
            }
        }
    }

    /// Returns the text of bytes without a byte order mark at its start.
    static func text(_ bytes: [UInt8], in name: String) throws(Fault) -> String {
        let name = name.lowercased()
        let text = isUTF8(name) ? try utf8(bytes) : try converted(bytes, name)
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }

    private static func utf8(_ bytes: [UInt8]) throws(Fault) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes.span))
        } catch {
            throw .invalid(offset: error.byteOffsets.lowerBound, characterSet: "utf-8")
        }
    }

    /// Returns the bytes of text in a character set.
    static func bytes(of text: String, in name: String) throws(Fault) -> [UInt8] {
        let name = name.lowercased()
        if isUTF8(name) { return Array(text.utf8) }
        let converter = try open(from: "UTF-8", to: name, named: name)
        defer { iconv_close(converter) }
        var input = Array(text.utf8)
        let (bytes, outcome) = convert(converter, &input)
        guard outcome.error == 0, outcome.inputLeft == 0 else {
            let place = text.utf8.index(text.startIndex, offsetBy: input.count - outcome.inputLeft)
            throw .missing(text[place...].first ?? "?", characterSet: name)
        }
        return bytes
    }

    private static func isUTF8(_ name: String) -> Bool { name == "utf-8" || name == "utf8" }

    private static func converted(_ bytes: [UInt8], _ name: String) throws(Fault) -> String {
        let converter = try open(from: name, to: "UTF-8", named: name)
        defer { iconv_close(converter) }
        var input = bytes
        let (output, outcome) = convert(converter, &input)
        guard outcome.error == 0, outcome.inputLeft == 0 else {
            throw .invalid(offset: bytes.count - outcome.inputLeft, characterSet: name)
        }
        do {
            return try utf8(output)
        } catch {
            // The C library also converts what is above U+10FFFF, which is no character.
            guard case .invalid(let length, _) = error else { throw error }
            var valid = [UInt8](output[..<length])
            throw .invalid(offset: bytes.count - convert(converter, &input, &valid).inputLeft, characterSet: name)
        }
    }

    private static func open(from source: String, to target: String, named name: String) throws(Fault) -> iconv_t {
        // A suffix after '/' would change iconv's behaviour, for example make it skip invalid bytes. An empty name would
        // stand for the character set of this process's locale.
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), let converter = iconv_open(target, source),
            Int(bitPattern: converter) != -1
        else { throw .unknownCharacterSet(name) }
        return converter
    }

    /// Returns the converted bytes, as far as the input is valid.
    private static func convert(_ converter: iconv_t, _ input: inout [UInt8]) -> (bytes: [UInt8], Outcome) {
        // A character takes at most four bytes in UTF-8. In a few sets a byte becomes several characters: in TSCII four.
        // To change its state, a set such as ISO-2022-JP needs up to four bytes more, and UTF-16 a byte order mark.
        var output = [UInt8](repeating: 0, count: input.count * 4 + 8)
        var outcome = convert(converter, &input, &output)
        if outcome.error == E2BIG {
            output = [UInt8](repeating: 0, count: input.count * 16 + 16)
            outcome = convert(converter, &input, &output)
        }
        output.removeLast(outcome.outputLeft)
        return (output, outcome)
    }

    private typealias Outcome = (error: CInt, inputLeft: Int, outputLeft: Int)

    /// Converts from the beginning.
    private static func convert(
        _ converter: iconv_t,
        _ input: inout [UInt8],
        _ output: inout [UInt8]
    ) -> Outcome {
        input.withUnsafeMutableBytes { input in
            output.withUnsafeMutableBytes { output in
                var from = input.baseAddress?.assumingMemoryBound(to: CChar.self)
                var to = output.baseAddress?.assumingMemoryBound(to: CChar.self)
                var (inputLeft, outputLeft) = (input.count, output.count)
                iconv(converter, nil, nil, nil, nil)
                var code = iconv(converter, &from, &inputLeft, &to, &outputLeft)
                if code != -1 { code = iconv(converter, nil, nil, &to, &outputLeft) }
                return (code == -1 ? errno : 0, inputLeft, outputLeft)
            }
        }
    }
}
