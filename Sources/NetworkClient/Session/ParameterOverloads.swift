// The compiler considers these methods only where those with `Parameters` don't fit, so that calls with a literal, and
// those without parameters, take no longer to check.

/// Requests whose parameters are the values of one `Encodable` type: a dictionary, or a type with properties.
extension HTTPSession {
    /// Creates a request of any method with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func request(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(method, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a GET request with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func get(
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.get, reference, Parameters(parameters), headers, .none, options)
    }

    /// Creates a HEAD request with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func head(
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.head, reference, Parameters(parameters), headers, .none, options)
    }

    /// Creates a DELETE request with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func delete(
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.delete, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a POST request with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func post(
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.post, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a PUT request with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func put(
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.put, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a PATCH request with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func patch(
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.patch, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a request that sends a body, with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func upload(
        _ reference: String,
        from body: RequestBody,
        method: HTTPRequest.Method = .post,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(method, reference, Parameters(parameters), headers, body, options.uploading)
    }

    /// Creates a stream request, with the values of an encodable type as its parameters.
    @_disfavoredOverload
    public func stream(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> StreamRequest {
        make(method, reference, Parameters(parameters), headers, body, options.streaming)
    }

    /// Creates a download to a path, with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ reference: String,
        to path: String,
        method: HTTPRequest.Method = .get,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: DownloadOptions = .init()
    ) -> DownloadRequest {
        make(method, reference, Parameters(parameters), headers, body, options.writing(to: path))
    }

    /// Creates a download to a file that a closure chooses, with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ reference: String,
        method: HTTPRequest.Method = .get,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: DownloadOptions = .init(),
        destination: @escaping @Sendable (HTTPResponse, _ suggestedName: String) throws -> String
    ) -> DownloadRequest {
        make(method, reference, Parameters(parameters), headers, body, options.writing(to: destination))
    }

    /// Creates a download to a file or a descriptor, with the values of an encodable type as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ reference: String,
        to output: BodyOutput,
        method: HTTPRequest.Method = .get,
        parameters: some Encodable,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DownloadRequest {
        make(method, reference, Parameters(parameters), headers, body, options.writing(to: output))
    }
}

/// Requests whose parameters are a literal with values of several types in an inner array or dictionary, such as
/// `["filter": ["open": true, "by": "Ann"]]`.
extension HTTPSession {
    /// Creates a request of any method with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func request(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(method, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a GET request with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func get(
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.get, reference, Parameters(parameters), headers, .none, options)
    }

    /// Creates a HEAD request with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func head(
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.head, reference, Parameters(parameters), headers, .none, options)
    }

    /// Creates a DELETE request with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func delete(
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.delete, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a POST request with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func post(
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.post, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a PUT request with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func put(
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.put, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a PATCH request with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func patch(
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.patch, reference, Parameters(parameters), headers, body, options)
    }

    /// Creates a request that sends a body, with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func upload(
        _ reference: String,
        from body: RequestBody,
        method: HTTPRequest.Method = .post,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(method, reference, Parameters(parameters), headers, body, options.uploading)
    }

    /// Creates a stream request, with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    public func stream(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> StreamRequest {
        make(method, reference, Parameters(parameters), headers, body, options.streaming)
    }

    /// Creates a download to a path, with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ reference: String,
        to path: String,
        method: HTTPRequest.Method = .get,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: DownloadOptions = .init()
    ) -> DownloadRequest {
        make(method, reference, Parameters(parameters), headers, body, options.writing(to: path))
    }

    /// Creates a download to a file that a closure chooses, with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ reference: String,
        method: HTTPRequest.Method = .get,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: DownloadOptions = .init(),
        destination: @escaping @Sendable (HTTPResponse, _ suggestedName: String) throws -> String
    ) -> DownloadRequest {
        make(method, reference, Parameters(parameters), headers, body, options.writing(to: destination))
    }

    /// Creates a download to a file or a descriptor, with a literal of mixed nested values as its parameters.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ reference: String,
        to output: BodyOutput,
        method: HTTPRequest.Method = .get,
        parameters: JSONValue,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DownloadRequest {
        make(method, reference, Parameters(parameters), headers, body, options.writing(to: output))
    }
}
