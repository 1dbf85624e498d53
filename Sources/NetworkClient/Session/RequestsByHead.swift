public import HTTPTypes

extension HTTPSession {
    /// Sends a request that is given by its head.
    ///
    /// ```swift
    /// let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/v1/users/7")
    /// let user = try await session.send(request).decoded(User.self)
    /// ```
    ///
    /// A head without scheme and authority is resolved against the session's base URL.
    ///
    /// - Parameters:
    ///   - request: Method, URL and fields; the fields replace the session's of the same name.
    ///   - body: The body.
    ///   - options: The options that differ from the session's.
    /// - Returns: The request.
    @discardableResult
    public func send(
        _ request: HTTPRequest,
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        self.request(request.method, request.reference, headers: request.headerFields, body: body, options: options)
    }

    /// Sends a request that is given by its head, and writes the response's body to a file or a descriptor.
    ///
    /// - Parameters:
    ///   - request: Method, URL and fields; the fields replace the session's of the same name.
    ///   - output: The file or descriptor.
    ///   - body: The body.
    ///   - options: The options that differ from the session's.
    /// - Returns: The request.
    @discardableResult
    public func download(
        _ request: HTTPRequest,
        to output: BodyOutput,
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DownloadRequest {
        download(
            request.reference,
            to: output,
            method: request.method,
            headers: request.headerFields,
            body: body,
            options: options
        )
    }

    /// Sends a request that is given by its head, and provides the response's body while it arrives.
    ///
    /// - Parameters:
    ///   - request: Method, URL and fields; the fields replace the session's of the same name.
    ///   - body: The body.
    ///   - options: The options that differ from the session's.
    /// - Returns: The request.
    public func stream(
        _ request: HTTPRequest,
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> StreamRequest {
        stream(request.method, request.reference, headers: request.headerFields, body: body, options: options)
    }

    /// Returns a request that has failed already.
    package func failed<Handle: RequestHandle>(
        _ method: HTTPRequest.Method,
        _ error: HTTPError,
        _ options: RequestOptions
    ) -> Handle {
        core.handle(for: .invalid(method, error, options))
    }
}

extension HTTPRequest {
    /// The URL, or a reference relative to a base URL (RFC 3986, 4.2): without a scheme, or without an authority too.
    fileprivate var reference: String {
        let path = path ?? ""
        let hierarchy = authority.map { "//\($0)\(path)" } ?? path
        return scheme.map { "\($0):\(hierarchy)" } ?? hierarchy
    }
}
