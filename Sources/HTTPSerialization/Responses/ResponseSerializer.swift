public import HTTPTypes

/// Makes a value of an answer, or says why it can't be one.
///
/// Users put their own decodings here. A serializer is a value without state, used from any thread.
public protocol ResponseSerializer<Output>: Sendable {
    /// What it makes.
    associatedtype Output: Sendable

    /// Makes the value.
    ///
    /// - Parameters:
    ///   - response: The answer's head.
    ///   - body: The whole body; empty if there is none.
    /// - Returns: The value.
    /// - Throws: ``ResponseSerializationError``, with what the body of a refusal says where it can be decoded.
    func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output
}

/// Why an answer is not what was expected.
public struct ResponseSerializationError: Error, Sendable {
    /// What was wrong.
    public var code: Code
    /// The answer's status code.
    public var status: Int
    /// The answer's `Content-Type`, if it has one.
    public var contentType: String?
    /// What the body says, decoded as if all were well: many servers describe errors in bodies.
    public var decoded: (any Sendable)?
    /// What else was wrong, or what the decoder said.
    public var underlying: (any Error)?

    /// Makes an error.
    public init(_ code: Code, _ response: HTTPResponse) {
        self.code = code
        status = response.status.code
        contentType = response.headerFields[.contentType]
    }

    /// What was wrong.
    public enum Code: Sendable, Hashable {
        /// The status code is none of those expected.
        case unacceptableStatus
        /// The body is of another type than those expected.
        case unacceptableContentType
        /// The body can't be decoded.
        case undecodable
    }
}

extension ResponseSerializationError: CustomStringConvertible {
    /// What was wrong, in one line.
    public var description: String {
        let type = contentType.map { "Content-Type '\($0)'" } ?? "no Content-Type"
        let what =
            switch code {
            case .unacceptableStatus: "the server answered with status \(status)"
            case .unacceptableContentType: "the answer has \(type), which is none of those expected"
            case .undecodable: "the body can't be decoded (\(type))"
            }
        return underlying.map { "\(what): \($0)" } ?? what
    }
}

/// Tries several serializers; the first that succeeds counts, and where none does the body stays as it is.
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    private let serializers: [any ResponseSerializer<Value>]

    /// Makes a serializer of others, which are tried in their order.
    public init(_ serializers: [any ResponseSerializer<Value>]) { self.serializers = serializers }

    /// What came of it.
    public enum Output: Sendable {
        /// One of the serializers succeeded.
        case value(Value)
        /// None did.
        case bytes([UInt8])
    }

    /// Fails only if the answer is a refusal that none of them reads.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        for serializer in serializers {
            if let value = try? serializer.serialize(response, body: body) { return .value(value) }
        }
        return .bytes(try BytesResponseSerializer().serialize(response, body: body))
    }
}

/// Which answers are good ones.
public struct ResponseExpectation: Sendable, Hashable {
    /// The status codes of success.
    public var statuses: Set<Int>
    /// Patterns of the media types that are read (``MediaType/matches(_:)``); nil for any.
    public var mediaTypes: Set<String>?

    /// Expects success, of any type unless told otherwise.
    public init(statuses: Set<Int> = Set(200...299), mediaTypes: Set<String>? = nil) {
        self.statuses = statuses
        self.mediaTypes = mediaTypes
    }

    /// JSON by its registered type, by what it was called before, and by any type built on it (RFC 6839, 3.1).
    public static let json = Self(mediaTypes: ["application/json", "text/json", "text/javascript", "*/*+json"])
    /// Property lists.
    public static let propertyList = Self(mediaTypes: ["application/x-plist"])

    /// Holds an answer against what is expected, and decodes it.
    ///
    /// | status | type | body | result |
    /// |---|---|---|---|
    /// | expected | expected, or there is no body | any | the decoded body |
    /// | expected | another | some | ``ResponseSerializationError/Code/unacceptableContentType`` |
    /// | another | expected | any | ``ResponseSerializationError/Code/unacceptableStatus`` with the decoded body |
    /// | another | another | some | the same, without it, and with the other error beneath |
    ///
    /// - Parameters:
    ///   - response: The answer's head.
    ///   - body: The whole body.
    ///   - decode: Makes the value of the body.
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
public struct MediaType: Sendable, Hashable {
    /// `type/subtype` in lower case, such as `application/json`.
    public var essence: String
    /// The parameters, such as `charset`, by their names in lower case; of one that comes twice the first.
    public var parameters: [String: String] = [:]

    /// Reads the value of a `Content-Type`; nil if it has no `type/subtype`.
    public init?(_ text: String) {
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

    /// Whether the type fits a pattern: the same, or with `*` for one half, or for what comes before a `+suffix`.
    public func matches(_ pattern: String) -> Bool {
        if essence == pattern || pattern == "*/*" { return true }
        if pattern.hasSuffix("/*") { return essence.hasPrefix(pattern.dropLast()) }
        guard let suffix = pattern.split(separator: "*", omittingEmptySubsequences: false).last,
            pattern.hasPrefix("*/*+") || pattern.contains("/*+")
        else { return false }
        let type = pattern.prefix { $0 != "/" }
        return essence.hasSuffix(suffix) && (type == "*" || essence.hasPrefix(type + "/"))
    }

    /// Takes the `=` and what follows it up to the next `;`: a token, or a quoted string, whose escapes are taken out.
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

    /// Takes what comes before the first of some bytes.
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
