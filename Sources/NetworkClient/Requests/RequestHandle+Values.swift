import NIOCore

extension RequestHandle {
    /// The answer as a serializer makes it.
    ///
    /// - Parameter serializer: Holds the answer against what is expected, and decodes it.
    /// - Returns: The value.
    /// - Throws: ``HTTPError``: as ``response()``, or ``HTTPError/Code/unacceptableStatus``,
    ///   ``HTTPError/Code/unacceptableContentType`` or ``HTTPError/Code/responseSerializationFailed`` with the answer's
    ///   head, the beginning of its body, and what could be decoded of it all the same.
    public func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer
    ) async throws(HTTPError) -> Serializer.Output {
        try value(serializer, of: await response())
    }

    func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        of response: DataResponse
    ) throws(HTTPError) -> Serializer.Output {
        do {
            return try serializer.serialize(response.head, body: response.bytes)
        } catch {
            throw HTTPError(error, response, for: request.description)
        }
    }

    /// The answer's body as a value, from JSON.
    ///
    /// - Parameter type: The value's type.
    /// - Returns: The value.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self
    ) async throws(HTTPError) -> Value {
        try await value(DecodableResponseSerializer<Value>())
    }

    /// The answer's body as JSON of any shape; nil for an empty body.
    ///
    /// - Returns: The value.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func json() async throws(HTTPError) -> JSONResponseSerializer.Output {
        try await value(JSONResponseSerializer())
    }

    /// The answer's body as text, by the charset of its `Content-Type`, else UTF-8.
    ///
    /// - Returns: The text.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func string() async throws(HTTPError) -> String { try await value(StringResponseSerializer()) }

    /// The answer's body as it is, if the status is one of success.
    ///
    /// - Returns: The bytes.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func bytes() async throws(HTTPError) -> [UInt8] { try await value(BytesResponseSerializer()) }
}

extension HTTPError {
    /// How much of an answer's body an error keeps.
    static let keptBody = 4_096

    init(_ error: ResponseSerializationError, _ response: DataResponse, for request: String) {
        let code: Code =
            switch error.code {
            case .unacceptableStatus: .unacceptableStatus
            case .unacceptableContentType: .unacceptableContentType
            case .undecodable: .responseSerializationFailed
            }
        self.init(code, Processing(status: response.head.status.code), "\(error)", cause: error.underlying)
        self.request = request
        self.response = response.head
        self.body = Array(response.buffer.readableBytesView.prefix(Self.keptBody))
        self.decoded = error.decoded
    }
}
