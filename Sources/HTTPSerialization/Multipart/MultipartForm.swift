import HTTPTypes

/// A form whose parts may be anything: fields, files, streams (multipart/form-data; RFC 7578).
///
/// ```swift
/// var form: MultipartForm = [.text("Ann", name: "user"), .file("/home/ann/photo.jpg", name: "picture")]
/// form.append(.bytes(thumbnail, name: "small", fileName: "small.png"))
/// ```
/// A value that holds descriptions: no file is opened and no stream begun until the form is sent, as often as it is.
public struct MultipartForm: Sendable, ExpressibleByArrayLiteral {
    /// The parts, in their order, which is kept; names may repeat.
    public var parts: [MultipartPart]

    /// Makes a form.
    public init(_ parts: [MultipartPart] = []) { self.parts = parts }

    /// Makes a form.
    public init(arrayLiteral parts: MultipartPart...) { self.init(parts) }

    /// Adds a part behind the others.
    public mutating func append(_ part: MultipartPart) { parts.append(part) }

    /// Whether it can be sent more than once: it has no stream that can't be made again.
    public var isReplayable: Bool {
        parts.allSatisfy { part in if case .stream(let stream) = part.content { stream.isReplayable } else { true } }
    }

    /// The form as it goes over the wire, with a boundary between its parts.
    ///
    /// - Parameter boundary: What separates the parts: 1 to 70 letters, digits and `'+_-.` (RFC 2046, 5.1.1), which must
    ///   occur nowhere in the parts. Of fields and bytes that is checked; of files and streams it can't be, so take some
    ///   that are random, of 128 bits or more.
    /// - Returns: The type and the pieces of the body.
    /// - Throws: ``RequestSerializationError`` if the boundary is none or occurs in a part, or a part has a content type
    ///   that is none.
    public func encoded(boundary: String) throws(RequestSerializationError) -> MultipartBody {
        guard MultipartBoundary.isValid(boundary) else {
            throw .init("'\(boundary)' is no boundary: take 1 to 70 letters, digits and '+_-.")
        }
        let delimiter = Array("--\(boundary)".utf8)
        var body = MultipartBody(boundary: boundary)
        for (position, part) in parts.enumerated() {
            let head = try part.head(at: position)
            let bytes = if case .bytes(let bytes) = part.content { bytes } else { [UInt8]() }
            guard !MultipartBoundary.occurs(delimiter, in: head), !MultipartBoundary.occurs(delimiter, in: bytes) else {
                throw .init("the boundary '\(boundary)' occurs in part \(position + 1) of the form: take another one")
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

/// What separates a form's parts (RFC 2046, 5.1.1).
enum MultipartBoundary {
    static let lineEnd: [UInt8] = [13, 10]

    /// Whether a text may be one and needs no quotes in a field.
    static func isValid(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count) && text.utf8.allSatisfy(isAllowed)
    }

    /// Whether a delimiter occurs in bytes; anywhere, since readers differ in what they take for a line's end.
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

/// A form as it goes over the wire: pieces, some of which are still to be read.
public struct MultipartBody: Sendable {
    /// What separates the parts.
    public let boundary: String
    /// What is sent, in this order.
    public private(set) var pieces: [MultipartContent] = []

    /// Bytes up to this many are put to those before, so that many small parts are not many small writes.
    private static let joined = 4_096

    init(boundary: String) { self.boundary = boundary }

    /// The value of `Content-Type`.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// How many bytes there will be, exactly; nil if a stream does not say.
    ///
    /// - Parameter fileLength: Gives the length of the file at a path; asked once for each file.
    /// - Returns: The length.
    /// - Throws: What `fileLength` throws, and nothing else.
    public func length<Failure: Error>(
        ofFile fileLength: (String) throws(Failure) -> Int64
    ) throws(Failure) -> Int64? {
        var sum: Int64? = 0
        for piece in pieces {
            // Also where the sum is lost already: a file that is not there is to be seen.
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
        guard case .bytes(let bytes) = content, bytes.count <= Self.joined, case .bytes(let before) = pieces.last,
            before.count <= Self.joined
        else { return pieces.append(content) }
        pieces[pieces.count - 1] = .bytes(before + bytes)
    }
}

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
                text += byte.percentEncoded
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
}
