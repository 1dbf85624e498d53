public import Dispatch
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// A request whose response's body is written to a file or a descriptor.
///
/// ```swift
/// let request = session.download("firmware.bin", to: "/var/lib/device/firmware.bin")
/// let file = try await request.response().file
/// ```
public final class DownloadRequest: RequestHandle, @unchecked Sendable {
    /// Returns the response once the complete body is written.
    ///
    /// - Returns: The file, and the head of the response.
    /// - Throws: ``HTTPError`` if there was no response, or ``HTTPError/Code/unacceptableStatus`` if the response has
    ///   no file because its status is not 2xx, with its head and its body up to
    ///   ``HTTPConfiguration/maximumErrorBodySize``. Cancelling the task cancels the request.
    public func response() async throws(HTTPError) -> DownloadResponse {
        try downloaded(try await ending().get())
    }

    /// Calls a closure once with the response when the complete body is written, or with the error.
    ///
    /// - Parameters:
    ///   - queue: The queue to call it on; nil for ``HTTPConfiguration/callbackQueue``.
    ///   - completion: The closure.
    /// - Returns: The request itself, so that calls can be chained.
    @discardableResult
    public func response(
        on queue: DispatchQueue? = nil,
        _ completion: @escaping @Sendable (Result<DownloadResponse, HTTPError>) -> Void
    ) -> Self {
        whenEnded(on: queue) { [self] ending in
            completion(
                ending.flatMap { response in
                    Result { () throws(HTTPError) in try downloaded(response) }
                }
            )
        }
        return self
    }

    private func downloaded(_ response: DataResponse) throws(HTTPError) -> DownloadResponse {
        if let file = response.file {
            reportSerialization(nil)
            return .init(file: file, response: response)
        }
        let status = response.head.status
        var error = HTTPError(
            .unacceptableStatus,
            processing: .init(status: status.code),
            reason: (200...299).contains(status.code)
                ? "the response (\(status)) has no file" : "the server responded with \(status), and no file"
        )
        error.add(response, of: self)
        error.request = request.description
        error.run = FailedRun(response.metrics)
        reportSerialization(error)
        throw error
    }
}

/// A response whose body was written to a file or a descriptor.
public struct DownloadResponse: Sendable {
    /// The file, which is complete.
    public let file: DownloadedFile
    let response: DataResponse

    /// The status and the header fields.
    ///
    /// A file that was complete before has status 416, since the server had nothing more to send.
    public var head: HTTPResponse { response.head }

    /// The status code, such as 200.
    public var status: Int { response.status }

    /// The URL that was requested last, with its query, without user information.
    public var url: String { response.url }

    /// The file name that the response suggests; see ``DataResponse/suggestedFileName``.
    public var suggestedFileName: String { response.suggestedFileName }

    /// The durations of the stages of the request.
    public var metrics: RequestMetrics { response.metrics }

    /// The redirects that were followed before this response, in order.
    public var redirects: [Redirect] { response.redirects }

    /// Whether a captive portal may have sent it; see ``DataResponse/mayBeFromPortal``.
    public var mayBeFromPortal: Bool { response.mayBeFromPortal }

    /// Where the response comes from; see ``DataResponse/source``.
    public var source: ResponseSource { response.source }

    /// The age of a response of the cache; see ``DataResponse/age``.
    public var age: Duration? { response.age }
}

extension HTTPSession {
    /// Downloads a file, which appears complete or not at all, and continues where an earlier download of it ended.
    ///
    /// Until the file is complete, the received bytes are in a partial file next to it, with a record of their version.
    /// After a pause, a failure, a cancellation or a killed process, the next request continues with the rest (`Range`,
    /// `If-Range`). Two versions are never mixed: if the server can't confirm that the file is unchanged, it is
    /// downloaded from the beginning. `docs/downloads.md` has the rules.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - path: The path of the file; if it is a symbolic link, the target of the link is replaced. A device or a pipe
    ///     is written directly.
    ///   - method: The method. Only a GET request without a body continues an earlier download.
    ///   - parameters: The parameters, which the session's serializer writes into the query or the body.
    ///   - headers: Header fields, which replace the session's fields of the same name. With `Range` or `If-Range`, the
    ///     request fails with ``HTTPError/Code/invalidConfiguration``.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they are written into
    ///     the query.
    ///   - options: The options of the download.
    /// - Returns: The request; ``DownloadRequest/response()`` waits for the file.
    @discardableResult
    public func download(
        _ reference: String,
        to path: String,
        method: HTTPRequest.Method = .get,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: DownloadOptions = .init()
    ) -> DownloadRequest {
        make(method, reference, parameters, headers, body, options.writing(to: path))
    }

    /// Makes a request with any method, whose response's body is written to a file that a closure chooses when the head
    /// of the response has been received.
    ///
    /// ```swift
    /// let request = session.download("reports/latest") { head, name in "/var/spool/reports/\(name)" }
    /// print(try await request.response().file.path ?? "")
    /// ```
    ///
    /// The name that the closure gets is the one that the server suggests in `Content-Disposition` (RFC 6266), or else
    /// the last component of the URL's path, or else `download`. It is safe as the last component of a path: without
    /// separators, control characters and leading dot, with at most 255 bytes, and no device name of Windows. The server
    /// still chooses it: with ``DownloadOptions/existingFile`` `refuse`, it can't replace a file.
    ///
    /// The file appears complete or not at all. Another request can't continue it.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - method: The method.
    ///   - parameters: The parameters, which the session's serializer writes into the query or the body.
    ///   - headers: Header fields, which replace the session's fields of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they are written into
    ///     the query.
    ///   - options: The options of the download; ``DownloadOptions/partPath`` has no effect.
    ///   - destination: Returns the path of the file for the head of the response and the suggested name. Called once,
    ///     for the first 2xx response, on a thread that may block. An error that it throws fails the request with
    ///     ``HTTPError/Code/fileFailed``, as its cause; an ``HTTPError`` is the request's error.
    /// - Returns: The request; ``DownloadRequest/response()`` waits for the file.
    @discardableResult
    public func download(
        _ reference: String,
        method: HTTPRequest.Method = .get,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: DownloadOptions = .init(),
        destination: @escaping @Sendable (HTTPResponse, _ suggestedName: String) throws -> String
    ) -> DownloadRequest {
        make(method, reference, parameters, headers, body, options.writing(to: destination))
    }

    /// Makes a request with any method, whose response's body is written to a file or a descriptor while it is
    /// received.
    ///
    /// ```swift
    /// let report = session.download("reports", to: .file("/tmp/report.pdf"), method: .post, body: .json(query))
    /// ```
    ///
    /// Another request can't continue it. The size of the body is limited by ``RequestOptions/maximumBodySize`` only.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - output: The destination of the decompressed body, if the status is 2xx.
    ///   - method: The method.
    ///   - parameters: The parameters, which the session's serializer writes into the query or the body.
    ///   - headers: Header fields, which replace the session's fields of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they are written into
    ///     the query.
    ///   - options: Settings that replace those of the session.
    /// - Returns: The request; ``DownloadRequest/response()`` waits for the end of the body.
    @discardableResult
    public func download(
        _ reference: String,
        to output: BodyOutput,
        method: HTTPRequest.Method = .get,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DownloadRequest {
        make(method, reference, parameters, headers, body, options.writing(to: output))
    }
}

extension DownloadOptions {
    /// Returns the options of a request that downloads to a path.
    func writing(to path: String) -> RequestOptions {
        var options = request
        options.destination = .receiver { (handle) throws(HTTPError) in try .taking(path, self, of: handle) }
        return options
    }

    /// Returns the options of a request that downloads to a file that a closure chooses.
    func writing(
        to destination: @escaping @Sendable (HTTPResponse, _ suggestedName: String) throws -> String
    ) -> RequestOptions {
        var options = request
        options.destination = .receiver { .choosing(destination, self, of: $0) }
        return options
    }
}

extension RequestOptions {
    /// Returns the options of a request that writes its response's body to a file or a descriptor.
    func writing(to output: BodyOutput) -> Self {
        var options = self
        options.destination = .receiver { .taking(output, of: $0) }
        return options
    }
}
