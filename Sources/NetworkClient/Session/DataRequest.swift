public import Dispatch
import NIOCore

/// A request whose response is held in memory, within ``HTTPConfiguration/maximumBodySize``.
///
/// ```swift
/// let user = try await session.get("users/7").decoded(User.self)
/// ```
public final class DataRequest: RequestHandle, @unchecked Sendable {
    /// Returns the response, whatever its status.
    ///
    /// - Returns: The whole response.
    /// - Throws: ``HTTPError`` if there was none. If the task is cancelled, so is the request.
    public func response() async throws(HTTPError) -> DataResponse { try await ending().get() }

    /// Returns what a serializer makes of the response.
    ///
    /// - Parameter serializer: Checks the response against what is expected, and decodes it.
    /// - Returns: The value.
    /// - Throws: ``HTTPError``: as ``response()``, or ``HTTPError/Code/unacceptableStatus``,
    ///   ``HTTPError/Code/unacceptableContentType`` or ``HTTPError/Code/responseSerializationFailed`` with the response's
    ///   head, the beginning of its body, and what could be decoded of it nevertheless.
    public func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer
    ) async throws(HTTPError) -> Serializer.Output {
        try value(serializer, of: await response())
    }

    private func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        of response: DataResponse
    ) throws(HTTPError) -> Serializer.Output {
        do {
            return try serializer.serialize(response.head, body: response.bytes)
        } catch {
            throw HTTPError(error, response, for: request.description)
        }
    }

    /// Returns a value decoded from the response's body, which is JSON.
    ///
    /// - Parameter type: The value's type.
    /// - Returns: The value.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self
    ) async throws(HTTPError) -> Value {
        try await value(DecodableResponseSerializer<Value>())
    }

    /// Returns the response's body as JSON of any shape; ``JSONValue/null`` for an empty body.
    ///
    /// ```swift
    /// let city = try await session.get("users/7").json()["address"]?["city"]?.string
    /// ```
    ///
    /// - Returns: The value.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func json() async throws(HTTPError) -> JSONValue {
        try await value(JSONResponseSerializer())
    }

    /// Returns the response's body as text, by the charset of its `Content-Type`, else UTF-8.
    ///
    /// - Returns: The text.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func string() async throws(HTTPError) -> String { try await value(StringResponseSerializer()) }

    /// Returns the response's body as it is, if the status is one of success.
    ///
    /// - Returns: The bytes.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func bytes() async throws(HTTPError) -> [UInt8] { try await value(BytesResponseSerializer()) }

    // MARK: With a closure

    /// Calls a closure with the response, whatever its status, or the error; once.
    ///
    /// - Parameters:
    ///   - queue: Where it is called; nil for a thread of the library, on which the closure must not block.
    ///   - completion: The closure.
    /// - Returns: The request itself, so that calls can be chained.
    @discardableResult
    public func response(
        on queue: DispatchQueue? = nil,
        _ completion: @escaping @Sendable (Result<DataResponse, HTTPError>) -> Void
    ) -> Self {
        whenEnded(on: queue, completion)
        return self
    }

    /// Calls a closure with what a serializer makes of the response, or the error; once.
    ///
    /// The response is decoded on the queue, not on the thread that receives.
    ///
    /// - Parameters:
    ///   - serializer: Checks the response against what is expected, and decodes it.
    ///   - queue: Where it is decoded, and the closure called.
    ///   - completion: The closure.
    /// - Returns: The request itself, so that calls can be chained.
    @discardableResult
    public func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        on queue: DispatchQueue,
        _ completion: @escaping @Sendable (Result<Serializer.Output, HTTPError>) -> Void
    ) -> Self {
        response(on: queue) { [self] ending in
            completion(
                ending.flatMap { response in
                    Result { () throws(HTTPError) in try value(serializer, of: response) }
                }
            )
        }
    }

    /// Calls a closure with a value decoded from the response's body, which is JSON, or the error; once.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - queue: Where it is decoded, and the closure called.
    ///   - completion: The closure.
    /// - Returns: The request itself, so that calls can be chained.
    @discardableResult
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type,
        on queue: DispatchQueue,
        _ completion: @escaping @Sendable (Result<Value, HTTPError>) -> Void
    ) -> Self {
        value(DecodableResponseSerializer<Value>(), on: queue, completion)
    }
}

extension HTTPError {
    /// How much of a response's body an error keeps.
    static let keptBody = 4_096

    fileprivate init(_ error: ResponseSerializationError, _ response: DataResponse, for request: String) {
        let code: Code =
            switch error.code {
            case .unacceptableStatus: .unacceptableStatus
            case .unacceptableContentType: .unacceptableContentType
            case .undecodable: .responseSerializationFailed
            }
        self.init(
            code,
            processing: Processing(status: response.head.status.code),
            reason: "\(error)",
            cause: error.underlying
        )
        self.request = request
        self.response = response.head
        self.body = Array(response.buffer.readableBytesView.prefix(Self.keptBody))
        self.decoded = error.decoded
    }
}
