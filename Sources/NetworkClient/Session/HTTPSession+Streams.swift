extension HTTPSession {
    /// Makes a request whose answer is read as it comes: ``RequestHandle/streamed()``.
    ///
    /// ```swift
    /// let answer = try await session.stream(.get, "events").streamed()
    /// for try await piece in answer.body { parse(piece) }
    /// ```
    ///
    /// A bound on the body's size is set by ``RequestOptions/maximumBodySize`` only. Once its head was handed out, the
    /// request is not sent again by any policy.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: What the session's serializer puts into the query or the body.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - body: The body; parameters go into the query then.
    ///   - options: What this request does otherwise than the session.
    /// - Returns: The request.
    public func stream(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> RequestHandle {
        var options = options
        options.destination = .stream
        return request(method, reference, parameters: parameters, headers: headers, body: body, options: options)
    }
}
