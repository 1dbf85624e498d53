import HTTPTypes

extension MultipartPart {
    /// The part's fields as they are sent, the empty line behind them included.
    ///
    /// - Parameter position: Which part of its form it is, for the error.
    /// - Returns: The bytes.
    /// - Throws: ``RequestSerializationError`` if the content type is none.
    func head(at position: Int) throws(RequestSerializationError) -> [UInt8] {
        var text = ""
        switch headers {
        case .fields(let fields):
            for field in fields { text += "\(field.name.rawName): \(field.value)\r\n" }
        case .named(let name, let fileName, let contentType):
            text += "Content-Disposition: form-data; name=\"\(MultipartName.escaped(name))\""
            if let fileName { text += "; filename=\"\(MultipartName.escaped(fileName))\"" }
            text += "\r\n"
            if let type = contentType ?? fileName.map(FileMediaType.type(ofFileNamed:)) {
                guard MultipartName.isMediaType(type) else {
                    throw .init(
                        """
                        the content type of part \(position + 1) of the form is none: \(String(reflecting: type)); \
                        write type/subtype, such as text/plain; charset=utf-8
                        """
                    )
                }
                text += "Content-Type: \(type)\r\n"
            }
        }
        return Array("\(text)\r\n".utf8)
    }
}

/// Names in a part's disposition.
enum MultipartName {
    /// A name of a field or a file as it stands between quotes, in UTF-8.
    ///
    /// As browsers do it: `"` becomes `%22`, CR `%0D` and LF `%0A` (HTML Standard, multipart/form-data encoding
    /// algorithm), all else stays, and there is no `filename*` (RFC 7578, 4.2). Beyond that standard, because names are
    /// not to change what a server reads:
    ///
    /// - Other control characters but the tab are escaped too: servers written in C would end the name at a NUL, and
    ///   others refuse the whole form.
    /// - A backslash before another one, or at the end, becomes `%5C`: servers that know quoted pairs (RFC 9110, 5.6.4)
    ///   would read the two as one, or take the closing quote for a part of the name and what follows for parameters.
    ///
    /// A backslash elsewhere stays, as the standard has it; the strictest of those servers leave it out.
    static func escaped(_ name: String) -> String {
        let bytes = Array(name.utf8)
        guard bytes.contains(where: { isControl($0) || $0 == quote || $0 == backslash }) else { return name }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + 8)
        for (position, byte) in bytes.enumerated() {
            let isPair = byte == backslash && (position + 1 == bytes.count || bytes[position + 1] == backslash)
            if isControl(byte) || byte == quote || isPair {
                text += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xF)]
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a text is a media type that stays within its line: printable ASCII, and `type/subtype` in front.
    static func isMediaType(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && MediaType(text) != nil
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 9 || byte == 0x7F }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
