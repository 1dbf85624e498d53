public import HTTPTypes

/// Creates a value from a response.
///
/// Conform to this protocol for custom formats. A serializer has no state and may be used from any thread.
public protocol ResponseSerializer<Output>: Sendable {
    /// The type of the value.
    associatedtype Output: Sendable

    /// Returns the value of a response.
    ///
    /// - Parameters:
    ///   - response: The head of the response.
    ///   - body: The whole body; empty if there is none.
    /// - Returns: The value.
    /// - Throws: ``ResponseSerializationError``. For an unacceptable status it contains the decoded body if there is
    ///   one.
    func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output
}

/// The reason why a response is not acceptable or can't be decoded.
public struct ResponseSerializationError: Error, Sendable {
    /// The kind of error.
    public var code: Code
    /// The status code of the response.
    public var status: Int
    /// The `Content-Type` of the response, if it has one.
    public var contentType: String?
    /// The decoded body of a response with an unacceptable status: many servers describe errors in the body.
    public var decoded: (any Sendable)?
    /// The error of the decoder, or a second error of the response.
    public var underlying: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ response: HTTPResponse) {
        self.code = code
        status = response.status.code
        contentType = response.headerFields[.contentType]
    }

    /// The kinds of error.
    public enum Code: Sendable, Hashable {
        /// The status code is not acceptable.
        case unacceptableStatus
        /// The content type of the body is not acceptable.
        case unacceptableContentType
        /// The body can't be decoded.
        case undecodable
    }
}

extension ResponseSerializationError: CustomStringConvertible {
    /// The error in one line.
    public var description: String {
        let type = contentType.map { "Content-Type '\($0)'" } ?? "no Content-Type"
        let what =
            switch code {
            case .unacceptableStatus: "the server responded with status \(status)"
            case .unacceptableContentType: "the response has \(type), which is not acceptable"
            case .undecodable: "the body can't be decoded (\(type))"
            }
        return underlying.map { "\(what): \($0)" } ?? what
    }
}

/// The status codes and media types of acceptable responses.
public struct ResponseExpectation: Sendable, Hashable {
    /// The acceptable status codes.
    public var statuses: Set<Int>
    /// Patterns of the acceptable media types: a type, one with `*` for a half, or one with `*` before a `+suffix`;
    /// nil for any type.
    public var mediaTypes: Set<String>?

    /// Creates an expectation.
    ///
    /// By default, any successful response is acceptable.
    public init(statuses: Set<Int> = Set(200...299), mediaTypes: Set<String>? = nil) {
        self.statuses = statuses
        self.mediaTypes = mediaTypes
    }

    /// JSON: its registered type, its older names, and types with the suffix `+json` (RFC 6839, 3.1).
    public static let json = Self(mediaTypes: ["application/json", "text/json", "text/javascript", "*/*+json"])
    /// JSON, also if it is served as `text/plain`.
    public static let jsonOrText = Self(
        mediaTypes: ["application/json", "text/json", "text/javascript", "*/*+json", "text/plain"]
    )
    /// XML: its registered types, and types with the suffix `+xml` (RFC 7303).
    public static let xml = Self(mediaTypes: ["application/xml", "text/xml", "*/*+xml"])
    /// Images: the types that AFNetworking accepts.
    public static let image = Self(mediaTypes: [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-ms-bmp", "image/x-win-bitmap", "image/webp",
    ])
    /// Property lists.
    public static let propertyList = Self(mediaTypes: ["application/x-plist"])

    /// Checks a response and decodes its body.
    ///
    /// | status | type | body | result |
    /// |---|---|---|---|
    /// | expected | expected, or there is no body | any | the decoded body |
    /// | expected | other | not empty | ``ResponseSerializationError/Code/unacceptableContentType`` |
    /// | other | expected | any | ``ResponseSerializationError/Code/unacceptableStatus`` with the decoded body |
    /// | other | other | not empty | the same without a decoded body; the content type's error is underlying |
    ///
    /// - Parameters:
    ///   - response: The head of the response.
    ///   - body: The whole body.
    ///   - decode: Returns the value of the body.
    /// - Returns: The value.
    /// - Throws: ``ResponseSerializationError``.
    public func value<Output: Sendable>(
        of response: HTTPResponse,
        body: [UInt8],
        _ decode: ([UInt8]) throws -> Output
    ) throws(ResponseSerializationError) -> Output {
        let isReadable = body.isEmpty || accepts(response.headerFields[.contentType])
        let typeFault = isReadable ? nil : ResponseSerializationError(.unacceptableContentType, response)
        guard statuses.contains(response.status.code) else {
            var error = ResponseSerializationError(.unacceptableStatus, response)
            error.underlying = typeFault
            if isReadable { error.decoded = try? decode(body) }
            throw error
        }
        if let typeFault { throw typeFault }
        do {
            return try decode(body)
        } catch {
            var fault = ResponseSerializationError(.undecodable, response)
            fault.underlying = error
            throw fault
        }
    }

    private func accepts(_ contentType: String?) -> Bool {
        guard let mediaTypes else { return true }
        guard let type = contentType.flatMap(MediaType.init) else { return false }
        return mediaTypes.contains(where: type.matches)
    }
}

/// A media type with its parameters (RFC 9110, 8.3.1).
package struct MediaType: Sendable, Hashable {
    /// `type/subtype` in lower case, such as `application/json`.
    package var essence: String
    /// The parameters, such as `charset`, by name in lower case.
    ///
    /// If a name occurs more than once, the first value is used.
    package var parameters: [String: String] = [:]

    /// Parses the value of a `Content-Type` field; nil if it has no `type/subtype`.
    package init?(_ text: String) {
        // By bytes: of characters, a semicolon with an accent is none.
        var rest = text.utf8[...]
        let essence = Self.trimmed(Self.cut(&rest, before: ";")).lowercased()
        let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else { return nil }
        self.essence = essence
        while rest.popFirst() != nil {
            let name = Self.trimmed(Self.cut(&rest, before: "=;")).lowercased()
            // Between two semicolons there may be nothing (RFC 9110, 5.6.6); a name alone says nothing.
            guard rest.first == UInt8(ascii: "=") else { continue }
            let value = Self.value(&rest)
            if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
        }
    }

    /// Whether the type matches a pattern: an equal type, or `*` for the type, the subtype, or the part before a
    /// `+suffix`.
    package func matches(_ pattern: String) -> Bool {
        if essence == pattern || pattern == "*/*" { return true }
        if pattern.hasSuffix("/*") { return essence.hasPrefix(pattern.dropLast()) }
        guard let suffix = pattern.split(separator: "*", omittingEmptySubsequences: false).last,
            pattern.hasPrefix("*/*+") || pattern.contains("/*+")
        else { return false }
        let type = pattern.prefix { $0 != "/" }
        return essence.hasSuffix(suffix) && (type == "*" || essence.hasPrefix(type + "/"))
    }

    /// Removes the `=` and the value up to the next `;`, a token or a quoted string, and returns the value without quotes
    /// and escapes.
    private static func value(_ rest: inout Substring.UTF8View) -> String {
        rest.removeFirst()
        rest = rest.drop(while: isBlank)
        guard rest.first == UInt8(ascii: "\"") else { return trimmed(cut(&rest, before: ";")) }
        rest.removeFirst()
        var value: [UInt8] = []
        while let next = rest.popFirst(), next != UInt8(ascii: "\"") {
            value.append(next == UInt8(ascii: "\\") ? rest.popFirst() ?? next : next)
        }
        _ = cut(&rest, before: ";")
        return String(decoding: value, as: UTF8.self)
    }

    /// Removes and returns the text before the first of some bytes.
    private static func cut(_ rest: inout Substring.UTF8View, before ends: StaticString) -> Substring.UTF8View {
        let part = rest.prefix { byte in !ends.withUTF8Buffer { $0.contains(byte) } }
        rest = rest[part.endIndex...]
        return part
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        let start = text.drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex
        return String(Substring(start[..<end]))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
