public import Dispatch

extension RequestHandle {
    /// Calls a closure with the answer, whatever its status, or the error; once.
    ///
    /// - Parameters:
    ///   - queue: Where it is called; nil for a thread of the library, on which the closure must not block.
    ///   - completion: The closure.
    /// - Returns: The handle itself, so that calls can be chained.
    @discardableResult
    public func response(
        on queue: DispatchQueue? = nil,
        _ completion: @escaping @Sendable (Result<DataResponse, HTTPError>) -> Void
    ) -> Self {
        whenEnded { ending in
            guard let queue else { return completion(ending) }
            queue.async { completion(ending) }
        }
        return self
    }

    /// Calls a closure with what a serializer makes of the answer, or the error; once.
    ///
    /// The answer is decoded on the queue, not on the thread that receives.
    ///
    /// - Parameters:
    ///   - serializer: Holds the answer against what is expected, and decodes it.
    ///   - queue: Where both happens.
    ///   - completion: The closure.
    /// - Returns: The handle itself, so that calls can be chained.
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

    /// Calls a closure with the answer's body as a value, from JSON, or the error; once.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - queue: Where it is decoded, and the closure called.
    ///   - completion: The closure.
    /// - Returns: The handle itself, so that calls can be chained.
    @discardableResult
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type,
        on queue: DispatchQueue,
        _ completion: @escaping @Sendable (Result<Value, HTTPError>) -> Void
    ) -> Self {
        value(DecodableResponseSerializer<Value>(), on: queue, completion)
    }
}
