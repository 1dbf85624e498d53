/// The name that a server suggests for a file (`Content-Disposition`, RFC 6266), made safe.
///
/// A suggested name is chosen by the server, so it must not choose a directory, hide a file, or name anything but a
/// file. Browsers and curl take the same precautions (RFC 6266, 4.3).
package enum SuggestedFileName {
    /// The name of a file for which neither the response nor the URL has one.
    package static let fallback = "download"

    /// The maximum length of a file's name in bytes (NAME_MAX, limits.h(0p)).
    private static let maximumLength = 255

    /// Returns the name for the body of a response.
    ///
    /// - Parameters:
    ///   - fields: The values of `Content-Disposition`. The first of them with a usable name decides.
    ///   - path: The path of the URL, percent-encoded; its last component is used if no field has a usable name.
    /// - Returns: A name that is safe as the last component of a path: not empty, with at most 255 bytes of UTF-8,
    ///   without separators, control characters and a leading dot.
    package static func name(fields: some Sequence<String>, path: some StringProtocol) -> String {
        for field in fields {
            if let name = ContentDisposition(field).fileName.flatMap({ safe($0) }) { return name }
        }
        let bytes = Array(path.utf8)
        let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let decoded = PercentEncoding.decoded(bytes[start...])
        return String(validating: decoded, as: UTF8.self).flatMap { safe($0) } ?? fallback
    }

    /// Returns the safe form of a name; nil if nothing of it can be used.
    package static func safe(_ name: String) -> String? {
        let last = name.unicodeScalars.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? []
        var scalars = String.UnicodeScalarView(last.filter { !$0.isHidden })[...]
        scalars = scalars.drop { $0 == "." || $0.properties.isWhitespace }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        guard !scalars.isEmpty, let name = shortened(String(scalars)) else { return nil }
        return isDevice(name) ? shortened("_" + name) : name
    }

    /// Returns a name without the characters that make it too long; its extension is kept if that is short.
    private static func shortened(_ name: String) -> String? {
        guard name.utf8.count > maximumLength else { return name }
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let suffix = name[dot...].utf8.count <= 32 ? name[dot...] : ""
        var stem = name[..<(suffix.isEmpty ? name.endIndex : dot)]
        while stem.utf8.count + suffix.utf8.count > maximumLength { stem.removeLast() }
        if suffix.isEmpty { while stem.last?.isWhitespace == true { stem.removeLast() } }
        // One character may consist of any number of combining marks.
        return stem.isEmpty ? nil : String(stem + suffix)
    }

    /// Returns whether Windows would take a name for a device, whatever its extension, as file systems and servers that
    /// the file is copied to may do.
    private static func isDevice(_ name: String) -> Bool {
        let stem = name.prefix { $0 != "." }.uppercased()
        if ["CON", "PRN", "AUX", "NUL"].contains(stem) { return true }
        return stem.utf8.count == 4 && (stem.hasPrefix("COM") || stem.hasPrefix("LPT"))
            && stem.utf8.last?.isASCIIDigit == true
    }
}

extension Unicode.Scalar {
    /// Whether it is invisible in a name: a control character, a line separator, or one that changes the direction of
    /// text, so that `exe.txt` is shown for `txt.exe`.
    fileprivate var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

/// A `Content-Disposition` field (RFC 6266), read leniently: what is not understood is ignored.
package struct ContentDisposition: Sendable, Hashable {
    /// The name of the file as the server wrote it: `filename*` (RFC 8187), or else `filename`; nil without either.
    package let fileName: String?

    /// Reads the value of the field.
    package init(_ value: String) {
        var (plain, extended): (String?, String?)
        var rest = Array(value.utf8)[...]
        while !rest.isEmpty {
            guard let (name, value, isQuoted) = Self.parameter(&rest) else { continue }
            switch name {
            // Of several, which are not allowed, the first one counts.
            case "filename": plain = plain ?? value
            case "filename*": extended = extended ?? (isQuoted ? nil : Self.decodedExtension(value))
            default: break
            }
        }
        fileName = extended ?? plain
    }

    /// Takes the text up to the next semicolon outside of quotes; nil if it is no parameter.
    private static func parameter(_ rest: inout ArraySlice<UInt8>) -> (name: String, value: String, isQuoted: Bool)? {
        let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
        rest = rest[name.endIndex...]
        guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
        rest = rest.drop { $0.isBlank }
        let isQuoted = rest.first == UInt8(ascii: "\"")
        let quoted = isQuoted ? quotedText(&rest) : []
        let plain = rest.prefix { $0 != UInt8(ascii: ";") }
        rest = rest[plain.endIndex...].dropFirst()
        let value = isQuoted ? quoted[...] : trimmed(plain)
        return (
            String(decoding: trimmed(name), as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self),
            isQuoted
        )
    }

    /// Takes a quoted string (RFC 9110, 5.6.4); one without an end ends with the field.
    private static func quotedText(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            let isEscape = byte == UInt8(ascii: "\\") && !rest.isEmpty
            text.append(isEscape ? rest.removeFirst() : byte)
        }
        return text
    }

    /// Decodes an extended value, such as `UTF-8'en'%E2%82%AC` (RFC 8187, 3.2); nil if it is invalid, or in a character
    /// set other than UTF-8 and ISO-8859-1.
    private static func decodedExtension(_ value: String) -> String? {
        let parts = value.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        guard let bytes = decodedCharacters(Array(parts[2])) else { return nil }
        switch String(parts[0])?.lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// Decodes the characters of an extended value; nil for bytes that must be escaped, and for incomplete escapes.
    private static func decodedCharacters(_ bytes: [UInt8]) -> [UInt8]? {
        var decoded: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if let byte = PercentEncoding.byte(at: position, in: bytes[...]) {
                decoded.append(byte)
                position += 3
                continue
            }
            let byte = bytes[position]
            guard byte.isTokenCharacter, !"*'%".utf8.contains(byte) else { return nil }
            decoded.append(byte)
            position += 1
        }
        return decoded
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var trimmed = bytes.drop { $0.isBlank }
        while trimmed.last?.isBlank == true { trimmed.removeLast() }
        return trimmed
    }
}
