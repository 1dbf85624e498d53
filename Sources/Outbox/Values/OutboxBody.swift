public import FoundationEssentials

/// The body of an item, which is stored when it is added.
public struct OutboxBody: Sendable {
    /// The handling of the file of a body.
    public enum FileHandling: Sendable, Hashable {
        /// It is removed from its place; on another file system it is copied first.
        case move
        /// It is copied: as a reflink, without using more space, where the file system can (ioctl_ficlone(2)).
        case copy
        /// It stays in its place; if its contents change before it is sent, the item is refused.
        case reference
    }

    typealias Chunks = @Sendable (_ write: ([UInt8]) throws -> Void) async throws -> Void

    enum Content: Sendable {
        case none
        case bytes([UInt8])
        case file(String, FileHandling)
        case chunks(Chunks)
        case failure(String)
    }

    let content: Content
    let contentType: String?

    /// No body.
    public static let none = Self(content: .none, contentType: nil)

    /// Bytes as they are.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; up to 64 KiB are stored in the database, more in a file.
    ///   - contentType: Their media type.
    /// - Returns: The body.
    public static func bytes(_ bytes: [UInt8], contentType: String? = "application/octet-stream") -> Self {
        .init(content: .bytes(bytes), contentType: contentType)
    }

    /// Text in UTF-8.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Self {
        .bytes(Array(text.utf8), contentType: contentType)
    }

    /// A value as JSON, encoded immediately: an error of the encoder is thrown when the item is added.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = .init()) -> Self {
        do {
            return .bytes(Array(try encoder.encode(value)), contentType: "application/json")
        } catch {
            return .init(content: .failure("the body can't be encoded as JSON: \(error)"), contentType: nil)
        }
    }

    /// A file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - handling: Whether it is moved, copied or left in its place.
    ///   - contentType: Its media type.
    /// - Returns: The body.
    public static func file(
        _ path: String,
        _ handling: FileHandling = .copy,
        contentType: String? = "application/octet-stream"
    ) -> Self {
        .init(content: .file(path, handling), contentType: contentType)
    }

    /// The elements of a sequence, which is read to its end and written to a file when the item is added.
    ///
    /// - Parameters:
    ///   - sequence: The sequence.
    ///   - contentType: The media type.
    /// - Returns: The body.
    public static func sequence<Elements: AsyncSequence & Sendable>(
        _ sequence: Elements,
        contentType: String? = "application/octet-stream"
    ) -> Self where Elements.Element == [UInt8] {
        let chunks: Chunks = { write in for try await chunk in sequence { try write(chunk) } }
        return .init(content: .chunks(chunks), contentType: contentType)
    }
}
