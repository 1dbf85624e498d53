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

    /// Returns the response once the whole body is in its place.
    ///
    /// - Returns: The file, and the response's head.
    /// - Throws: ``HTTPError`` if there was no response, or ``HTTPError/Code/unacceptableStatus`` with the response's head
    ///   and the beginning of its body, if it was none of success: then nothing was written. If the task is cancelled, so
    ///   is the request.
    public func response() async throws(HTTPError) -> DownloadResponse {
        try downloaded(try await ending().get())
    }

    /// Calls a closure with the response once the whole body is in its place, or with the error; once.
    ///
    /// - Parameters:
    ///   - queue: Where it is called; nil for a thread of the library, on which the closure must not block.
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
        if let file = response.file { return .init(file: file, response: response) }
        let status = response.head.status
        var error = HTTPError(
            .unacceptableStatus,
            processing: .init(status: status.code),
            reason: (200...299).contains(status.code)
                ? "the response (\(status)) brought no file" : "the server responded with \(status), and no file"
        )
        error.request = request.description
        error.response = response.head
        error.body = Array(response.buffer.readableBytesView.prefix(HTTPError.keptBody))
        throw error
    }
}

/// A response whose body was written to a file or a descriptor.
public struct DownloadResponse: Sendable {
    /// The file, which is complete.
    public let file: DownloadedFile
    let response: DataResponse

    /// Status and fields.
    ///
    /// A file that was complete before has status 416, since its server had nothing more to send.
    public var head: HTTPResponse { response.head }

    /// The status code, such as 200.
    public var status: Int { response.status }

    /// The URL that was asked last, without user information and query.
    public var url: String { response.url }

    /// How long each stage took.
    public var metrics: RequestMetrics { response.metrics }

    /// The redirects that were followed on the way to this response, in their order.
    public var redirects: [Redirect] { response.redirects }
}

extension HTTPSession {
    /// Downloads a file, which appears complete or not at all, and continues where an earlier download of it ended.
    ///
    /// Until the file is complete, what has arrived is in a part next to it, with a record of its version: whether the
    /// request was paused, has failed, was cancelled, or its process killed, the next one requests the rest only
    /// (`Range`, `If-Range`). Parts of two versions are never mixed: where the server can't say for certain that the file
    /// is the same, it is downloaded again. `docs/downloads.md` has the rules.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - path: The file's path; what a link leads to is replaced, the link stays. A device or a pipe is written as it
    ///     is.
    ///   - parameters: What goes into the query.
    ///   - headers: Fields that replace the session's of the same name; not `Range` and `If-Range`.
    ///   - options: What the download does otherwise.
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

    /// Makes a request of any method whose response's body is written to a file or a descriptor while it arrives.
    ///
    /// ```swift
    /// let report = session.download("reports", to: .file("/tmp/report.pdf"), method: .post, body: .json(query))
    /// ```
    ///
    /// Another request does not continue it. The body's size is limited by ``RequestOptions/maximumBodySize`` only.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - output: Where the body goes, decompressed, if the status is one of success (2xx).
    ///   - method: The method.
    ///   - parameters: What the session's serializer puts into the query or the body.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they go into the
    ///     query.
    ///   - options: What this request does otherwise than the session.
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
    /// Takes a download that can be continued.
    fileprivate convenience init(
        _ handle: RequestHandle,
        to path: String,
        _ options: DownloadOptions
    ) throws(HTTPError) {
        for name in ["Range", "If-Range"] where handle.request.head.headers.contains(name: name) {
            let reason = "a download asks for parts by itself: leave \(name) out of its fields"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        let file = PartialFile.Plan(
            partPath: options.partPath,
            existing: options.existingFile,
            isSynced: options.isSynced
        )
        let sink = PlacedFile(path, file, of: handle.request.askedURL)
        self.init(.init(path: path, traits: .init(), wantsIdentity: true), sink, handle)
    }

    /// Takes the body of any response; nil for a request whose response has none.
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
            let sink = PlacedFile(path, file, of: handle.request.askedURL)
            self.init(.init(path: path, traits: traits, wantsIdentity: false), sink, handle)
        }
    }

    private convenience init(_ plan: Plan, _ sink: any FileSink, _ handle: RequestHandle) {
        self.init(plan, sink, host: handle.request.endpoint.text, loop: handle.core.loop)
    }
}
