public import FoundationEssentials
import Glibc
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
    /// An empty body, as with status 204, is decoded as nil if the type is optional.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        try expectation.value(of: response, body: body) { body in
            if body.isEmpty, let none = noValue(of: Output.self) { return none }
            return try decoder().decode(Output.self, from: Data(body))
        }
    }
}

/// Decodes the body as any JSON value.
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
    /// An empty body, as with status 204, is decoded as ``ParameterValue/null``.
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
    /// An empty body, as with status 204, is decoded as nil if the type is optional.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        try expectation.value(of: response, body: body) { body in
            if body.isEmpty, let none = noValue(of: Output.self) { return none }
            return try PropertyListDecoder().decode(Output.self, from: Data(body))
        }
    }
}

/// Returns the value of a type for an empty body: nil for an optional, null for ``ParameterValue``; else nil.
private func noValue<Output>(of type: Output.Type) -> Output? {
    (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Output
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

/// Decodes text in the character sets of the C library (iconv(3)).
enum CharacterSetConversion {
    /// The reason why bytes can't be decoded.
    enum Fault: Error, CustomStringConvertible {
        case unknownCharacterSet(String)
        case invalid(offset: Int, characterSet: String)

        var description: String {
            switch self {
            case .unknownCharacterSet(let name): "the character set '\(name)' is unknown; see iconv -l"
            case .invalid(let offset, let name): "byte \(offset) is not valid in the character set '\(name)'"
            }
        }
    }

    /// Returns the text of bytes without a byte order mark at its start.
    static func text(_ bytes: [UInt8], in name: String) throws(Fault) -> String {
        let name = name.lowercased()
        let text = name == "utf-8" || name == "utf8" ? try utf8(bytes) : try converted(bytes, name)
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }

    private static func utf8(_ bytes: [UInt8]) throws(Fault) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return try converted(bytes, "utf-8")
    }

    private static func converted(_ bytes: [UInt8], _ name: String) throws(Fault) -> String {
        // A suffix after '/' would change iconv's behaviour, for example make it skip invalid bytes.
        guard !name.utf8.contains(UInt8(ascii: "/")), let converter = iconv_open("UTF-8", name),
            Int(bitPattern: converter) != -1
        else { throw .unknownCharacterSet(name) }
        defer { iconv_close(converter) }
        var input = bytes
        // A character takes at most four bytes in UTF-8. In a few sets a byte becomes several characters: in TSCII four.
        var output = [UInt8](repeating: 0, count: bytes.count * 4 + 4)
        var outcome = convert(converter, &input, &output)
        if outcome.error == E2BIG {
            output = [UInt8](repeating: 0, count: bytes.count * 16 + 16)
            outcome = convert(converter, &input, &output)
        }
        guard outcome.error == 0, outcome.inputLeft == 0 else {
            throw .invalid(offset: bytes.count - outcome.inputLeft, characterSet: name)
        }
        return String(decoding: output[..<(output.count - outcome.outputLeft)], as: UTF8.self)
    }

    /// Converts from the beginning.
    private static func convert(
        _ converter: iconv_t,
        _ input: inout [UInt8],
        _ output: inout [UInt8]
    ) -> (error: CInt, inputLeft: Int, outputLeft: Int) {
        input.withUnsafeMutableBytes { input in
            output.withUnsafeMutableBytes { output in
                var from = input.baseAddress?.assumingMemoryBound(to: CChar.self)
                var to = output.baseAddress?.assumingMemoryBound(to: CChar.self)
                var (inputLeft, outputLeft) = (input.count, output.count)
                iconv(converter, nil, nil, nil, nil)
                var code = iconv(converter, &from, &inputLeft, &to, &outputLeft)
                if code != -1 { code = iconv(converter, nil, nil, &to, &outputLeft) }
                return (code == -1 ? errno : 0, inputLeft, outputLeft)
            }
        }
    }
}
