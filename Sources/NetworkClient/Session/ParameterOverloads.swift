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
        request(method, reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        get(reference, parameters: Parameters(parameters), headers: headers, options: options)
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
        head(reference, parameters: Parameters(parameters), headers: headers, options: options)
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
        delete(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        post(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        put(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        patch(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        upload(
            reference,
            from: body,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            options: options
        )
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
        stream(method, reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        download(
            reference,
            to: path,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            body: body,
            options: options
        )
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
        download(
            reference,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            body: body,
            options: options,
            destination: destination
        )
    }

    /// Creates a download to a file or a descriptor, with the values of an encodable type as its
    /// parameters.
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
        download(
            reference,
            to: output,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            body: body,
            options: options
        )
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
        request(method, reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        get(reference, parameters: Parameters(parameters), headers: headers, options: options)
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
        head(reference, parameters: Parameters(parameters), headers: headers, options: options)
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
        delete(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        post(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        put(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        patch(reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        upload(
            reference,
            from: body,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            options: options
        )
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
        stream(method, reference, parameters: Parameters(parameters), headers: headers, body: body, options: options)
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
        download(
            reference,
            to: path,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            body: body,
            options: options
        )
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
        download(
            reference,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            body: body,
            options: options,
            destination: destination
        )
    }

    /// Creates a download to a file or a descriptor, with a literal of mixed nested values as its
    /// parameters.
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
        download(
            reference,
            to: output,
            method: method,
            parameters: Parameters(parameters),
            headers: headers,
            body: body,
            options: options
        )
    }
}
