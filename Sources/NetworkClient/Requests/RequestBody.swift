public import FoundationEssentials

/// What a request carries.
public struct RequestBody: Sendable {
    /// The bytes and their type, or why they can't be made.
    let content: Result<Content, HTTPError>

    struct Content: Sendable {
        typealias MakeSource = @Sendable () throws(HTTPError) -> BodySource

        var bytes: [UInt8]?
        /// Says what gives it, if it is not in memory; asked for each request that has this body.
        var makeSource: MakeSource?
        var contentType: String?

        var isNone: Bool { bytes == nil && makeSource == nil }
    }

    /// No body.
    public static let none = Self(content: .success(.init()))

    /// Bytes as they are.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - contentType: Their media type, such as `application/octet-stream`.
    /// - Returns: The body.
    public static func bytes(_ bytes: [UInt8], contentType: String? = "application/octet-stream") -> Self {
        .init(content: .success(.init(bytes: bytes, contentType: contentType)))
    }

    /// Text in UTF-8.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Self {
        .bytes(Array(text.utf8), contentType: contentType)
    }

    /// A value as JSON.
    ///
    /// What can't be encoded fails the request with ``HTTPError/Code/requestSerializationFailed``.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = .init()) -> Self {
        .encoded(contentType: "application/json") { try Array(encoder.encode(value)) }
    }

    /// A value as a property list.
    ///
    /// What can't be encoded fails the request with ``HTTPError/Code/requestSerializationFailed``.
    public static func propertyList(_ value: some Encodable, encoder: PropertyListEncoder = .init()) -> Self {
        .encoded(contentType: "application/x-plist") { try Array(encoder.encode(value)) }
    }

    private static func encoded(contentType: String, _ encode: () throws -> [UInt8]) -> Self {
        do {
            return try .bytes(encode(), contentType: contentType)
        } catch {
            let reason = "the body can't be encoded as \(contentType): \(error)"
            return .init(content: .failure(.init(.requestSerializationFailed, .neverSent, reason, cause: error)))
        }
    }
}
