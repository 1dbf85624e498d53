extension HTTPSession {
    /// Sends a body to a server.
    ///
    /// ```swift
    /// let answer = try await session.upload("reports/7", from: .file("/var/log/report.txt")).response()
    /// ```
    /// What is sent is told by ``RequestEvent/sending(bytes:of:)``.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - body: What is sent: a file, a sequence, a form, bytes.
    ///   - method: How; with `put` it may be sent again after it was perhaps processed, with `post` only with a key.
    ///   - parameters: What goes into the query.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - options: What this request does otherwise than the session.
    /// - Returns: The request.
    @discardableResult
    public func upload(
        _ reference: String,
        from body: RequestBody,
        method: HTTPRequest.Method = .post,
        parameters: ParameterValue? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> RequestHandle {
        request(method, reference, parameters: parameters, headers: headers, body: body, options: options)
    }
}
