import Glibc

/// Decodes text in the character sets of the C library (iconv(3)).
enum CharacterSetConversion {
    /// The reason why bytes can't be decoded.
    enum Fault: Error, CustomStringConvertible {
        case unknownCharacterSet(String)
        case invalid(offset: Int, characterSet: String)

        var description: String {
            switch self {
            case .unknownCharacterSet(let name): "the character set '\(name)' is unknown; see iconv -l"
            case .invalid(let offset, let name): "byte \(offset) is not valid in the character set '\(name)'"
            }
        }
    }

    /// Returns the text of bytes without a byte order mark at its start.
    static func text(_ bytes: [UInt8], in name: String) throws(Fault) -> String {
        let name = name.lowercased()
        let text = name == "utf-8" || name == "utf8" ? try utf8(bytes) : try converted(bytes, name)
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }

    private static func utf8(_ bytes: [UInt8]) throws(Fault) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes.span))
        } catch {
            throw .invalid(offset: error.byteOffsets.lowerBound, characterSet: "utf-8")
        }
    }

    private static func converted(_ bytes: [UInt8], _ name: String) throws(Fault) -> String {
        // A suffix after '/' would change iconv's behaviour, for example make it skip invalid bytes.
        guard !name.utf8.contains(UInt8(ascii: "/")), let converter = iconv_open("UTF-8", name),
            Int(bitPattern: converter) != -1
        else { throw .unknownCharacterSet(name) }
        defer { iconv_close(converter) }
        var input = bytes
        // A character takes at most four bytes in UTF-8. In a few sets a byte becomes several characters: in TSCII four.
        var output = [UInt8](repeating: 0, count: bytes.count * 4 + 4)
        var outcome = convert(converter, &input, &output)
        if outcome.error == E2BIG {
            output = [UInt8](repeating: 0, count: bytes.count * 16 + 16)
            outcome = convert(converter, &input, &output)
        }
        guard outcome.error == 0, outcome.inputLeft == 0 else {
            throw .invalid(offset: bytes.count - outcome.inputLeft, characterSet: name)
        }
        output.removeLast(outcome.outputLeft)
        do {
            return try utf8(output)
        } catch {
            // The C library also converts what is above U+10FFFF, which is no character.
            guard case .invalid(let length, _) = error else { throw error }
            var valid = [UInt8](output[..<length])
            throw .invalid(offset: bytes.count - convert(converter, &input, &valid).inputLeft, characterSet: name)
        }
    }

    /// Converts from the beginning.
    private static func convert(
        _ converter: iconv_t,
        _ input: inout [UInt8],
        _ output: inout [UInt8]
    ) -> (error: CInt, inputLeft: Int, outputLeft: Int) {
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
