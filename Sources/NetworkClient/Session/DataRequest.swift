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
    /// - Returns: The complete response.
    /// - Throws: ``HTTPError`` if there was none. Cancelling the task cancels the request.
    public func response() async throws(HTTPError) -> DataResponse { try await ending().get() }

    /// Returns a value that a serializer decodes from the response.
    ///
    /// - Parameter serializer: The serializer, which validates the response and decodes it.
    /// - Returns: The value.
    /// - Throws: ``HTTPError``: those of ``response()``, or ``HTTPError/Code/unacceptableStatus``,
    ///   ``HTTPError/Code/unacceptableContentType`` or ``HTTPError/Code/responseSerializationFailed`` with the
    ///   response's head, its body up to ``HTTPConfiguration/maximumErrorBodySize``, and the value if it could be decoded
    ///   nevertheless.
    public func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer
    ) async throws(HTTPError) -> Serializer.Output {
        try value(serializer, of: await ending().get())
    }

    private func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        of response: DataResponse
    ) throws(HTTPError) -> Serializer.Output {
        do {
            let value = try serializer.serialize(response.head, body: response.bytes)
            reportSerialization(nil)
            return value
        } catch {
            let rejection = error.httpError(for: response, to: self)
            reportSerialization(rejection)
            throw rejection
        }
    }

    /// Returns a value decoded from the response's JSON body, by the settings in
    /// ``HTTPConfiguration/responseSerializer`` or ``RequestOptions/responseSerializer``.
    ///
    /// An empty body is decoded as nil if the type is optional, and as an `EmptyResponse`.
    ///
    /// - Parameter type: The value's type.
    /// - Returns: The value.
    /// - Throws: The errors of ``value(_:)``.
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self
    ) async throws(HTTPError) -> Value {
        try await value(decodableSerializer(of: type))
    }

    /// Returns the response's body as JSON of any structure; ``JSONValue/null`` for an empty body.
    ///
    /// ```swift
    /// let city = try await session.get("users/7").json()["address"]?["city"]?.string
    /// ```
    ///
    /// - Returns: The value.
    /// - Throws: The errors of ``value(_:)``.
    public func json() async throws(HTTPError) -> JSONValue {
        try await value(
            JSONResponseSerializer(expectation: settings.expectation, removesNulls: settings.removesNulls)
        )
    }

    /// Returns the response's body as text in the charset of its `Content-Type`, or in UTF-8 if there is none.
    ///
    /// - Returns: The text.
    /// - Throws: The errors of ``value(_:)``.
    public func string() async throws(HTTPError) -> String {
        try await value(StringResponseSerializer(expectation: settings.anyType))
    }

    /// Returns the bytes of the response's body, if the status is acceptable: 2xx, unless the settings say otherwise.
    ///
    /// - Returns: The bytes.
    /// - Throws: The errors of ``value(_:)``.
    public func bytes() async throws(HTTPError) -> [UInt8] {
        try await value(BytesResponseSerializer(expectation: settings.anyType))
    }

    // MARK: With a closure

    /// Calls a closure once with the response, whatever its status, or the error.
    ///
    /// - Parameters:
    ///   - queue: The queue to call it on; nil for ``HTTPConfiguration/callbackQueue``.
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

    /// Calls a closure once with a value that a serializer decodes from the response, or the error.
    ///
    /// - Parameters:
    ///   - serializer: The serializer, which validates the response and decodes it.
    ///   - queue: The queue on which the response is decoded and the closure called; nil for
    ///     ``HTTPConfiguration/callbackQueue``.
    ///   - completion: The closure.
    /// - Returns: The request itself, so that calls can be chained.
    @discardableResult
    public func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        on queue: DispatchQueue? = nil,
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

    /// Calls a closure once with a value decoded from the response's JSON body, or the error.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - queue: The queue on which the response is decoded and the closure called; nil for
    ///     ``HTTPConfiguration/callbackQueue``.
    ///   - completion: The closure.
    /// - Returns: The request itself, so that calls can be chained.
    @discardableResult
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type,
        on queue: DispatchQueue? = nil,
        _ completion: @escaping @Sendable (Result<Value, HTTPError>) -> Void
    ) -> Self {
        value(decodableSerializer(of: type), on: queue, completion)
    }

    /// The acceptable responses of certain media types, with the statuses of the settings.
    package func expectation(_ mediaTypes: ResponseExpectation) -> ResponseExpectation {
        .init(statuses: settings.expectation.statuses, mediaTypes: mediaTypes.mediaTypes)
    }

    private var settings: ResponseSerializerSettings { request.policy.responseSerializer }

    private func decodableSerializer<Value>(of type: Value.Type) -> DecodableResponseSerializer<Value> {
        .init(expectation: settings.expectation, decoder: settings.decoder)
    }
}

extension ResponseSerializationError {
    /// Returns the error of a request whose response a serializer has rejected.
    fileprivate func httpError(for response: DataResponse, to handle: RequestHandle) -> HTTPError {
        let code: HTTPError.Code =
            switch code {
            case .unacceptableStatus: .unacceptableStatus
            case .unacceptableContentType: .unacceptableContentType
            case .undecodable: .responseSerializationFailed
            }
        let processing = Processing(status: response.head.status.code)
        var error = HTTPError(code, processing: processing, reason: "\(self)", cause: underlying)
        error.add(response, of: handle)
        error.request = handle.request.description
        error.run = FailedRun(response.metrics)
        error.decoded = decoded
        return error
    }
}

extension HTTPError {
    /// Adds the head of a response, and its body as far as errors keep it.
    mutating func add(_ response: DataResponse, of handle: RequestHandle) {
        self.response = response.head
        mayBeFromPortal = response.mayBeFromPortal
        tag = handle.tag
        body = Array(response.buffer.readableBytesView.prefix(handle.core.configuration.maximumErrorBodySize))
    }
}
