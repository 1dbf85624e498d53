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
    ///   occur nowhere in the contents. Of bytes that is checked; of files and streams it can't be, so take some that are
    ///   random, of 128 bits or more.
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
            if case .bytes(let bytes) = part.content, MultipartBoundary.occurs(delimiter, in: bytes) {
                throw .init("the boundary '\(boundary)' occurs in part \(position + 1) of the form: take another one")
            }
            body.append(delimiter + MultipartBoundary.lineEnd)
            body.append(try part.head(at: position))
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
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "'"), UInt8(ascii: "+"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
