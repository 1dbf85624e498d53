public import FoundationEssentials
public import HTTPTypes

/// The body as it is.
public struct BytesResponseSerializer: ResponseSerializer {
    /// Which answers are good ones.
    public var expectation: ResponseExpectation

    /// Makes a serializer that takes any type.
    public init(expectation: ResponseExpectation = .init()) { self.expectation = expectation }

    /// Gives the bytes.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> [UInt8] {
        try expectation.value(of: response, body: body) { $0 }
    }
}

/// The body as a value that decodes itself from JSON.
public struct DecodableResponseSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// Makes a decoder, as often as one is needed: decoders are no values.
    public typealias DecoderFactory = @Sendable () -> JSONDecoder

    /// Which answers are good ones.
    public var expectation: ResponseExpectation
    private let decoder: DecoderFactory

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - expectation: Which answers are good ones.
    ///   - decoder: How dates, data and keys are read.
    public init(
        _ type: Output.Type = Output.self,
        expectation: ResponseExpectation = .json,
        decoder: @escaping DecoderFactory = { JSONDecoder() }
    ) {
        self.expectation = expectation
        self.decoder = decoder
    }

    /// Decodes the value; an empty body, as with status 204, is nil where that is a value of the type.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        try expectation.value(of: response, body: body) { body in
            if body.isEmpty, let none = noValue(of: Output.self) { return none }
            return try decoder().decode(Output.self, from: Data(body))
        }
    }
}

/// The body as whatever JSON it is.
public struct JSONResponseSerializer: ResponseSerializer {
    /// Which answers are good ones.
    public var expectation: ResponseExpectation
    /// Whether nulls are left out at any depth.
    public var removesNulls: Bool

    /// Makes a serializer.
    public init(expectation: ResponseExpectation = .json, removesNulls: Bool = false) {
        self.expectation = expectation
        self.removesNulls = removesNulls
    }

    /// An empty body, as with status 204, is ``ParameterValue/null``.
    public func serialize(
        _ response: HTTPResponse,
        body: [UInt8]
    ) throws(ResponseSerializationError) -> ParameterValue {
        try expectation.value(of: response, body: body) { body in
            if body.allSatisfy({ $0 == UInt8(ascii: " ") }) { return .null }
            let value = try JSONDecoder().decode(ParameterValue.self, from: Data(body))
            return removesNulls ? value.withoutNulls : value
        }
    }
}

/// The body as a value that decodes itself from a property list, XML or binary.
public struct PropertyListResponseSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// Which answers are good ones.
    public var expectation: ResponseExpectation

    /// Makes a serializer.
    public init(_ type: Output.Type = Output.self, expectation: ResponseExpectation = .propertyList) {
        self.expectation = expectation
    }

    /// Decodes the value; an empty body, as with status 204, is nil where that is a value of the type.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        try expectation.value(of: response, body: body) { body in
            if body.isEmpty, let none = noValue(of: Output.self) { return none }
            return try PropertyListDecoder().decode(Output.self, from: Data(body))
        }
    }
}

/// Returns the value of a type for a body that is not there: nil of an optional, null of ``ParameterValue``.
private func noValue<Output>(of type: Output.Type) -> Output? {
    (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Output
}
