import Locking
public import NIOCore

/// A response whose head has been received, and whose body is received as it is read.
public struct StreamedResponse: Sendable {
    /// The status and the header fields.
    public let head: HTTPResponse
    /// The body, decompressed.
    public let body: ResponseBody
    let address: HTTPURL
    /// The origin of a response of the cache; nil for one of the network.
    var cached: CacheOrigin?

    /// Where the response comes from; see ``DataResponse/source``.
    public var source: ResponseSource { cached?.source ?? .network }

    /// The age of a response of the cache; see ``DataResponse/age``.
    public var age: Duration? { cached.map { .seconds($0.age) } }

    /// The URL that was requested last, with its query, without user information; see ``DataResponse/url``.
    public var url: String { address.absolute(address.target) }

    /// The file name that the response suggests, which is safe as the last component of a path.
    ///
    /// See ``DataResponse/suggestedFileName``.
    public var suggestedFileName: String { head.suggestedFileName(at: address) }

    /// The status code, such as 200.
    public var status: Int { head.status.code }
}

/// The body of a response as a sequence of pieces, with backpressure: it is received only as fast as it is read.
///
/// It can be read once. It throws the request's ``HTTPError`` if the response is incomplete. Releasing the body and its
/// iterators before the end cancels the request.
///
/// A few hundred KiB are received before they are read. Until then, ``Timeouts/read`` limits the time between two pieces from the
/// server, whether or not the body is being read. Once the server has to wait for the reader, only the time limit of the whole
/// request (``Timeouts/total``) applies.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A piece of the body, with the size in which it was received.
    public typealias Element = ByteBuffer
    /// The error of the request.
    public typealias Failure = HTTPError

    private let source: Source

    fileprivate init(_ source: Source) { self.source = source }

    /// The request.
    var handle: RequestHandle { source.handle }

    /// Creates an iterator; a second one continues where the first one stopped.
    public func makeAsyncIterator() -> AsyncIterator { .init(source: source) }

    /// Collects the rest of the body in memory.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The bytes.
    /// - Throws: The request's ``HTTPError`` if the response is incomplete, or ``HTTPError/Code/bodyTooLarge``.
    public func collect(upTo limit: Int) async throws(HTTPError) -> ByteBuffer {
        var whole = ByteBuffer()
        var iterator = makeAsyncIterator()
        while let piece = try await iterator.next(isolation: #isolation) {
            guard whole.readableBytes + piece.readableBytes <= limit else {
                let reason = "the rest of the response's body is larger than \(limit) bytes: pass a larger limit"
                throw .init(.bodyTooLarge, processing: .answered, reason: reason)
            }
            whole.writeImmutableBuffer(piece)
        }
        return whole
    }

    /// The iterator of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source

        /// Returns the next piece; nil at the end.
        public mutating func next() async throws(HTTPError) -> ByteBuffer? {
            try await next(isolation: #isolation)
        }

        /// Returns the next piece; nil at the end.
        ///
        /// Cancelling the task cancels the request.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(HTTPError) -> ByteBuffer? {
            let source = source
            do {
                return try await withTaskCancellationHandler {
                    try await source.stream.next()
                } onCancel: {
                    source.handle.cancel()
                }
            } catch {
                throw (error as? HTTPError)
                    ?? .init(.cancelled, processing: .answered, reason: "the request was cancelled", cause: error)
            }
        }
    }

    /// The object that all readers retain: when the last one releases it, the request is cancelled.
    final class Source: Sendable {
        let stream: BodyStream
        let handle: RequestHandle

        init(_ stream: BodyStream, _ handle: RequestHandle) {
            self.stream = stream
            self.handle = handle
        }

        deinit { if stream.abandon() { handle.cancel() } }
    }
}

/// A request whose response's body is read while it is received.
///
/// ```swift
/// let response = try await session.stream(.get, "events").response()
/// for try await piece in response.body { parse(piece) }
/// ```
/// Releasing the request does not cancel it. A large response keeps its connection until it is read: wait for the response, and
/// read or release its body, or cancel the request.
public final class StreamRequest: RequestHandle, @unchecked Sendable {
    /// The buffer between the connection and the reader of the body.
    let stream = BodyStream()
    /// What all responses of this request share, so that it is released with the last of them.
    private let source = Lock(SharedSource())

    private struct SharedSource {
        weak var source: ResponseBody.Source?
    }

    required init(id: UInt64, _ request: consuming PreparedRequest, core: SessionCore) {
        super.init(id: id, request, core: core)
        whenEnded { [stream] in stream.requestEnded($0) }
    }

    override func makeReceiver() -> (any BodyReceiver)? { StreamReceiver(stream, of: self) }

    /// Returns the response as soon as its head has been received; its body can then be read.
    ///
    /// If the status is not 2xx, the complete body is received into memory first, within
    /// ``HTTPConfiguration/maximumBodySize``.
    ///
    /// - Returns: The response. A later call returns the same body, from where it was read to; if all have released it before
    ///   its end, reading it throws ``HTTPError/Code/cancelled``.
    /// - Throws: ``HTTPError`` if there was no response. Cancelling the task cancels the request.
    public func response() async throws(HTTPError) -> StreamedResponse {
        let beginning = await withTaskCancellationHandler {
            await stream.beginning
        } onCancel: {
            cancel()
        }
        switch beginning {
        case .head(let head, let url, let origin):
            return .init(head: head, body: body, address: url, cached: origin)
        case .end(let ending):
            let response = try ending.get()
            return .init(head: response.head, body: body, address: response.address, cached: response.cached)
        }
    }

    /// The body that all responses share.
    private var body: ResponseBody {
        source.withLock { shared in
            let source = shared.source ?? ResponseBody.Source(stream, self)
            shared.source = source
            return ResponseBody(source)
        }
    }
}

extension HTTPSession {
    /// Makes a request whose response's body is read while it is received, and starts it.
    ///
    /// The size of the body is limited by ``RequestOptions/maximumBodySize`` only. Once the head of the response was
    /// returned, the request is not resent.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: The parameters, which the session's serializer writes into the query or the body.
    ///   - headers: Header fields, which replace the session's fields of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they are written into
    ///     the query.
    ///   - options: Settings that replace those of the session.
    /// - Returns: The request; ``StreamRequest/response()`` waits for the head of the response.
    public func stream(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> StreamRequest {
        make(method, reference, parameters, headers, body, options.streaming)
    }
}

extension RequestOptions {
    /// The options of a request whose response's body is read while it is received.
    var streaming: Self {
        var options = self
        options.destination = .stream
        return options
    }
}
