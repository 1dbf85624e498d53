public import FoundationEssentials
public import HTTPTypes

/// Returns the body unchanged.
public struct BytesResponseSerializer: ResponseSerializer {
    /// The acceptable responses.
    public var expectation: ResponseExpectation

    /// Creates a serializer that accepts any content type by default.
    public init(expectation: ResponseExpectation = .init()) { self.expectation = expectation }

    /// Returns the bytes.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> [UInt8] {
        try expectation.value(of: response, body: body) { $0 }
    }
}

/// Decodes the body from JSON.
public struct DecodableResponseSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// Creates a decoder.
    ///
    /// It is called for each response, since decoders are not `Sendable` values.
    public typealias DecoderFactory = @Sendable () -> JSONDecoder

    /// The acceptable responses.
    public var expectation: ResponseExpectation
    private let decoder: DecoderFactory

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - expectation: The acceptable responses.
    ///   - decoder: Creates the decoder, which decides how dates, data and keys are read.
    public init(
        _ type: Output.Type = Output.self,
        expectation: ResponseExpectation = .json,
        decoder: @escaping DecoderFactory = { JSONDecoder() }
    ) {
        self.expectation = expectation
        self.decoder = decoder
    }

    /// Decodes the value.
    ///
    /// An empty body, as with status 204 or 205, is decoded as nil if the type is optional, and as an ``EmptyResponse``.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        try expectation.value(of: response, body: body) { body in
            if body.isEmpty, let none = noValue(of: Output.self) { return none }
            return try decoder().decode(Output.self, from: Data(body))
        }
    }
}

/// Decodes the body as any JSON value, in which numbers keep all their digits.
public struct JSONResponseSerializer: ResponseSerializer {
    /// The acceptable responses.
    public var expectation: ResponseExpectation
    /// Whether nulls are removed at any depth.
    public var removesNulls: Bool

    /// Creates a serializer.
    public init(expectation: ResponseExpectation = .json, removesNulls: Bool = false) {
        self.expectation = expectation
        self.removesNulls = removesNulls
    }

    /// Decodes the value.
    ///
    /// An empty body, as with status 204, is decoded as ``JSONValue/null``.
    public func serialize(
        _ response: HTTPResponse,
        body: [UInt8]
    ) throws(ResponseSerializationError) -> JSONValue {
        try expectation.value(of: response, body: body) { body in
            if body.allSatisfy({ $0 == UInt8(ascii: " ") }) { return .null }
            let value = try JSONValue(parsing: body)
            return removesNulls ? value.withoutNulls : value
        }
    }
}

/// Decodes the body from a property list, XML or binary.
public struct PropertyListResponseSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// The acceptable responses.
    public var expectation: ResponseExpectation

    /// Creates a serializer.
    public init(_ type: Output.Type = Output.self, expectation: ResponseExpectation = .propertyList) {
        self.expectation = expectation
    }

    /// Decodes the value.
    ///
    /// An empty body, as with status 204 or 205, is decoded as nil if the type is optional, and as an ``EmptyResponse``.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        try expectation.value(of: response, body: body) { body in
            if body.isEmpty, let none = noValue(of: Output.self) { return none }
            return try PropertyListDecoder().decode(Output.self, from: Data(body))
        }
    }
}

/// Returns the value of a type for an empty body: nil for an optional, null for ``JSONValue``, and an ``EmptyResponse``;
/// otherwise nil.
private func noValue<Output>(of type: Output.Type) -> Output? {
    if type == JSONValue.self { return JSONValue.null as? Output }
    if type == EmptyResponse.self { return EmptyResponse() as? Output }
    return (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Output
}

/// Decodes the body as text in the character set of its `Content-Type`, by default UTF-8.
public struct StringResponseSerializer: ResponseSerializer {
    /// The acceptable responses.
    public var expectation: ResponseExpectation

    /// Creates a serializer that accepts any content type by default.
    public init(expectation: ResponseExpectation = .init()) { self.expectation = expectation }

    /// Decodes the text and removes a byte order mark at its start.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> String {
        let name = response.headerFields[.contentType].flatMap(MediaType.init)?.parameters["charset"] ?? ""
        return try expectation.value(of: response, body: body) {
            // An empty name would stand for the character set of this process's locale.
            try CharacterSetConversion.text($0, in: name.isEmpty ? "utf-8" : name)
        }
    }
}
