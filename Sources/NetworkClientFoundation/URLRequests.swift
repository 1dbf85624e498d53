public import Foundation
public import NetworkClient

/// Requests whose URL is a `URL`; see the functions of the same name that take text.
///
/// A relative URL is resolved against its own base, or else against the session's.
extension HTTPSession {
    /// Makes a request of any method whose response is held in memory, and starts it.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL.
    ///   - parameters: The values that the session's serializer encodes into the query or the body.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they are written into
    ///     the query.
    ///   - options: The options that differ from the session's.
    /// - Returns: The request.
    @discardableResult
    public func request(
        _ method: HTTPRequest.Method,
        _ url: URL,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(method, url.absoluteString, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a GET request; see `request`.
    @discardableResult
    public func get(
        _ url: URL,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.get, url, parameters: parameters, headers: headers, options: options)
    }

    /// Makes a HEAD request; see `request`.
    @discardableResult
    public func head(
        _ url: URL,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.head, url, parameters: parameters, headers: headers, options: options)
    }

    /// Makes a DELETE request; see `request`.
    @discardableResult
    public func delete(
        _ url: URL,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.delete, url, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a POST request; see `request`.
    @discardableResult
    public func post(
        _ url: URL,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.post, url, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a PUT request; see `request`.
    @discardableResult
    public func put(
        _ url: URL,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.put, url, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a PATCH request; see `request`.
    @discardableResult
    public func patch(
        _ url: URL,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.patch, url, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a request that sends a body; see `request`.
    @discardableResult
    public func upload(
        _ url: URL,
        from body: RequestBody,
        method: HTTPRequest.Method = .post,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        upload(url.absoluteString, from: body, method: method, headers: headers, options: options)
    }

    /// Makes a request whose response's body is read while it arrives.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - body: The body.
    ///   - options: The options that differ from the session's.
    /// - Returns: The request.
    public func stream(
        _ method: HTTPRequest.Method,
        _ url: URL,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> StreamRequest {
        stream(method, url.absoluteString, headers: headers, body: body, options: options)
    }

    /// Downloads a file, and continues an interrupted download of it.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - file: The file's URL; with another scheme than `file` the request fails with
    ///     ``HTTPError/Code/invalidConfiguration``.
    ///   - headers: Fields that replace the session's of the same name; not `Range` and `If-Range`.
    ///   - options: The options of the download.
    /// - Returns: The request.
    @discardableResult
    public func download(
        _ url: URL,
        to file: URL,
        headers: HTTPFields = [:],
        options: DownloadOptions = .init()
    ) -> DownloadRequest {
        guard file.isFileURL else {
            let reason = "a download goes to a file, not to '\(file.scheme ?? file.relativeString)': use URL(filePath:)"
            return failed(.get, .init(.invalidConfiguration, processing: .neverSent, reason: reason), options.request)
        }
        return download(
            url.absoluteString,
            to: file.path(percentEncoded: false),
            headers: headers,
            options: options
        )
    }
}
