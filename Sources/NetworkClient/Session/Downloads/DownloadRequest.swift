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
    override func makeReceiver() throws(HTTPError) -> (any BodyReceiver)? {
        guard case .receiver(let make) = request.destination else { return nil }
        return try make(self)
    }

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

    /// The durations of the stages of the request.
    public var metrics: RequestMetrics { response.metrics }

    /// The redirects that were followed before this response, in order.
    public var redirects: [Redirect] { response.redirects }
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
    ///   - parameters: The parameters, which are written into the query.
    ///   - headers: Header fields, which replace the session's fields of the same name. With `Range` or `If-Range`, the
    ///     request fails with ``HTTPError/Code/invalidConfiguration``.
    ///   - options: The options of the download.
    /// - Returns: The request; ``DownloadRequest/response()`` waits for the file.
    @discardableResult
    public func download(
        _ reference: String,
        to path: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: DownloadOptions = .init()
    ) -> DownloadRequest {
        var request = options.request
        request.destination = .receiver { (handle) throws(HTTPError) in try FileReceiver(handle, to: path, options) }
        return make(.get, reference, parameters, headers, .none, request)
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
        var options = options
        options.destination = .receiver { FileReceiver.taking(output, of: $0) }
        return make(method, reference, parameters, headers, body, options)
    }
}

extension FileReceiver {
    /// Creates the receiver of a download that can be continued.
    fileprivate convenience init(
        _ handle: RequestHandle,
        to path: String,
        _ options: DownloadOptions
    ) throws(HTTPError) {
        for name in ["Range", "If-Range"] where handle.request.head.headers.contains(name: name) {
            let reason = "a download sets \(name) itself: leave it out of the fields"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        let file = PartialFile.Plan(
            partPath: options.partPath,
            existing: options.existingFile,
            isSynced: options.isSynced
        )
        let sink = PlacedFile(path, file, of: handle.request.url)
        self.init(.init(path: path, traits: .init(), wantsIdentity: true), sink, handle)
    }

    /// Creates the receiver of any response's body; nil for a request whose response has none.
    fileprivate static func taking(_ output: BodyOutput, of handle: RequestHandle) -> FileReceiver? {
        handle.request.head.method == .HEAD ? nil : FileReceiver(handle, output)
    }

    private convenience init(_ handle: RequestHandle, _ output: BodyOutput) {
        let head = handle.request.head
        let asksForParts = head.method == .GET && !head.headers.contains(name: "Range")
        let traits = DownloadState.Traits(asksForParts: asksForParts, takesAnySuccess: true)
        switch output.place {
        case .descriptor(let number):
            let plan = Plan(path: nil, traits: traits, wantsIdentity: false)
            self.init(plan, DirectFile(.descriptor(number)), handle)
        case .file(let path, let existing, let isSynced):
            let file = PartialFile.Plan(isContinuable: false, existing: existing, isSynced: isSynced)
            let sink = PlacedFile(path, file, of: handle.request.url)
            self.init(.init(path: path, traits: traits, wantsIdentity: false), sink, handle)
        }
    }

    private convenience init(_ plan: Plan, _ sink: any FileSink, _ handle: RequestHandle) {
        self.init(plan, sink, host: handle.request.endpoint.text, loop: handle.core.loop)
    }
}
