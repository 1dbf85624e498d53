import HTTPTypes

/// A form with any number of fields, files and streams, sent as `multipart/form-data` (RFC 7578).
///
/// ```swift
/// var form: MultipartForm = [.text("Ann", name: "user"), .file("/home/ann/photo.jpg", name: "picture")]
/// form.append(.bytes(thumbnail, name: "small", fileName: "small.png"))
/// ```
/// The value only describes the parts: files are opened and streams are started each time the form is sent.
public struct MultipartForm: Sendable, ExpressibleByArrayLiteral {
    /// The parts in the order in which they are sent.
    ///
    /// Several parts may have the same name.
    public var parts: [MultipartPart]

    /// Creates a form.
    public init(_ parts: [MultipartPart] = []) { self.parts = parts }

    /// Creates a form.
    public init(arrayLiteral parts: MultipartPart...) { self.init(parts) }

    /// Appends a part.
    public mutating func append(_ part: MultipartPart) { parts.append(part) }

    /// Whether the form can be sent more than once: no stream in it is limited to one use.
    public var isReplayable: Bool {
        parts.allSatisfy { part in if case .stream(let stream) = part.content { stream.isReplayable } else { true } }
    }

    /// Returns the form as it is sent, with a boundary between its parts.
    ///
    /// - Parameter boundary: The text that separates the parts: 1 to 70 letters, digits and `'+_-.` (RFC 2046, 5.1.1).
    ///   It must not occur in the contents. Bytes are checked for it; files and streams can't be, so use a random
    ///   boundary of 128 bits or more.
    /// - Returns: The content type and the pieces of the body.
    /// - Throws: ``RequestSerializationError`` if the boundary is invalid or occurs in a part, or if the content type
    ///   of a part is invalid.
    public func encoded(boundary: String) throws(RequestSerializationError) -> MultipartBody {
        guard MultipartBoundary.isValid(boundary) else {
            throw .init("'\(boundary)' is not a valid boundary: use 1 to 70 letters, digits and '+_-.")
        }
        let delimiter = Array("--\(boundary)".utf8)
        var body = MultipartBody(boundary: boundary)
        for (position, part) in parts.enumerated() {
            let head = try part.head(at: position)
            let bytes = if case .bytes(let bytes) = part.content { bytes } else { [UInt8]() }
            guard !MultipartBoundary.occurs(delimiter, in: head), !MultipartBoundary.occurs(delimiter, in: bytes) else {
                throw .init("the boundary '\(boundary)' occurs in part \(position + 1) of the form: use another one")
            }
            body.append(delimiter + MultipartBoundary.lineEnd)
            body.append(head)
            body.append(part.content)
            body.append(MultipartBoundary.lineEnd)
        }
        body.append(delimiter + Array("--\r\n".utf8))
        return body
    }
}

/// The boundary between a form's parts (RFC 2046, 5.1.1).
enum MultipartBoundary {
    static let lineEnd: [UInt8] = [13, 10]

    /// Whether a text is a valid boundary that needs no quotes in a `Content-Type` field.
    static func isValid(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.allSatisfy(isAllowed)
    }

    /// Whether a delimiter occurs in bytes.
    ///
    /// Any position counts, since parsers disagree about what ends a line.
    static func occurs(_ delimiter: [UInt8], in bytes: [UInt8]) -> Bool {
        guard let first = delimiter.first, bytes.count >= delimiter.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            let last = bytes.count - delimiter.count
            return (0...last).contains { start in
                bytes[start] == first && delimiter.indices.allSatisfy { bytes[start + $0] == delimiter[$0] }
            }
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case _ where byte.isASCIIAlphanumeric: true
        case UInt8(ascii: "'"), UInt8(ascii: "+"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}

/// The body of a form as it is sent: pieces, some of which are read only while they are sent.
public struct MultipartBody: Sendable {
    /// The text that separates the parts.
    public let boundary: String
    /// The pieces in the order in which they are sent.
    public private(set) var pieces: [MultipartContent] = []

    /// The size in bytes up to which adjacent pieces are merged, so that many small parts don't cause many small
    /// writes.
    private static let mergeLimit = 4_096

    init(boundary: String) { self.boundary = boundary }

    /// The value of `Content-Type`.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// Returns the exact length of the body in bytes; nil if the length of a stream is unknown.
    ///
    /// - Parameter fileLength: Returns the length of the file at a path. It is called once for each file.
    /// - Returns: The length.
    /// - Throws: Only errors that `fileLength` throws.
    public func length<Failure: Error>(
        ofFile fileLength: (String) throws(Failure) -> Int64
    ) throws(Failure) -> Int64? {
        var sum: Int64? = 0
        for piece in pieces {
            // Files are checked even if the sum is already unknown: a missing file must be reported.
            let length: Int64? =
                switch piece {
                case .bytes(let bytes): Int64(bytes.count)
                case .file(let path): try fileLength(path)
                case .stream(let stream): stream.length
                }
            sum = Self.add(sum, length)
        }
        return sum
    }

    private static func add(_ sum: Int64?, _ length: Int64?) -> Int64? {
        guard let sum, let length else { return nil }
        let (result, overflow) = sum.addingReportingOverflow(length)
        return overflow ? nil : result
    }

    mutating func append(_ bytes: [UInt8]) { append(.bytes(bytes)) }

    mutating func append(_ content: MultipartContent) {
        guard case .bytes(let bytes) = content, bytes.count <= Self.mergeLimit, case .bytes(let before) = pieces.last,
            before.count <= Self.mergeLimit
        else { return pieces.append(content) }
        pieces[pieces.count - 1] = .bytes(before + bytes)
    }
}

extension MultipartPart {
    /// Returns the part's header fields as they are sent, including the empty line after them.
    ///
    /// - Parameter position: The index of the part in its form, for the error.
    /// - Returns: The bytes.
    /// - Throws: ``RequestSerializationError`` if the content type is invalid.
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
                        the content type of part \(position + 1) of the form is invalid: \(String(reflecting: type)); \
                        use type/subtype, such as text/plain; charset=utf-8
                        """
                    )
                }
                text += "Content-Type: \(type)\r\n"
            }
        }
        return Array("\(text)\r\n".utf8)
    }
}

/// Names in a part's `Content-Disposition`.
enum MultipartName {
    /// Returns the name of a field or file as it is written between quotes, in UTF-8.
    ///
    /// As in browsers, `"` becomes `%22`, CR `%0D` and LF `%0A` (HTML Standard, multipart/form-data encoding
    /// algorithm), everything else is kept, and there is no `filename*` (RFC 7578, 4.2). Two rules go beyond that
    /// standard, so that a name can't change how a server parses the form:
    ///
    /// - Other control characters except the tab are escaped too: servers written in C would end the name at a NUL, and
    ///   others reject the whole form.
    /// - A backslash before another one, or at the end, becomes `%5C`: servers that parse quoted pairs (RFC 9110,
    ///   5.6.4) would read the two as one, or read the closing quote as part of the name and the text after it as
    ///   parameters.
    ///
    /// Any other backslash is kept, as the standard requires; servers that parse quoted pairs strictly drop it.
    static func escaped(_ name: String) -> String {
        let bytes = Array(name.utf8)
        guard bytes.contains(where: { isControl($0) || $0 == quote || $0 == backslash }) else { return name }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + 8)
        for (position, byte) in bytes.enumerated() {
            let isPair = byte == backslash && (position + 1 == bytes.count || bytes[position + 1] == backslash)
            if isControl(byte) || byte == quote || isPair {
                text += byte.percentEncoded
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a text is a media type that is safe in a field: printable ASCII that starts with `type/subtype`.
    static func isMediaType(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && MediaType(text) != nil
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 9 || byte == 0x7F }
}
