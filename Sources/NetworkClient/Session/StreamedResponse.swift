public import NIOCore

/// An answer whose head has come, and whose body comes as it is read.
public struct StreamedResponse: Sendable {
    /// Status and fields.
    public let head: HTTPResponse
    /// The body, decompressed.
    public let body: ResponseBody

    /// The status code, such as 200.
    public var status: Int { head.status.code }
}

/// The body of an answer, piece by piece, as fast as it is read: what is not read is not taken from the server.
///
/// It can be read once. It throws the request's ``HTTPError`` where the answer breaks off. Anyone who stops reading
/// before the end, or drops the body, cancels the request. While it is not read, none of the request's limits but the
/// one of the whole goes on.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A piece, of the size in which it came.
    public typealias Element = ByteBuffer
    /// What the request failed with.
    public typealias Failure = HTTPError

    private let source: Source

    init(_ stream: BodyStream, of handle: RequestHandle) { source = .init(stream, handle) }

    /// Reads it; a second one finds what the first has left.
    public func makeAsyncIterator() -> AsyncIterator { .init(source: source) }

    /// Puts the rest together in memory.
    ///
    /// - Parameter limit: How many bytes it may be at most.
    /// - Returns: The bytes.
    /// - Throws: ``HTTPError`` as the answer breaks off, or ``HTTPError/Code/bodyTooLarge``.
    public func collect(upTo limit: Int) async throws(HTTPError) -> ByteBuffer {
        var whole = ByteBuffer()
        var iterator = makeAsyncIterator()
        while let piece = try await iterator.next(isolation: #isolation) {
            guard whole.readableBytes + piece.readableBytes <= limit else { throw .bodyTooLarge(limit) }
            whole.writeImmutableBuffer(piece)
        }
        return whole
    }

    /// Reads one body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source

        /// The next piece; nil at the end.
        public mutating func next() async throws(HTTPError) -> ByteBuffer? {
            try await next(isolation: #isolation)
        }

        /// The next piece; nil at the end.
        ///
        /// If the task is cancelled, the request is, too.
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

    /// What all who read hold on to: with the last of them goes the request.
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

/// A request whose response's body is read while it arrives.
///
/// ```swift
/// let response = try await session.stream(.get, "events").response()
/// for try await piece in response.body { parse(piece) }
/// ```
public final class StreamRequest: RequestHandle, @unchecked Sendable {
    /// The response's body, on its way to the reader.
    let stream = BodyStream()

    required init(id: UInt64, _ request: PreparedRequest, core: SessionCore) {
        super.init(id: id, request, core: core)
        whenEnded { [stream] in stream.requestEnded($0) }
    }

    override func makeReceiver() -> (any BodyReceiver)? { StreamReceiver(stream, loop: core.loop) }

    /// Returns the response as soon as its head has arrived, with its body to be read.
    ///
    /// A response whose status is not one of success (2xx) has arrived whole by then, within
    /// ``HTTPConfiguration/maximumBodySize``, and is read from memory.
    ///
    /// - Returns: The response; called again, its body is what has not been read.
    /// - Throws: ``HTTPError`` if there was no response. If the task is cancelled, so is the request.
    public func response() async throws(HTTPError) -> StreamedResponse {
        let beginning = await withTaskCancellationHandler {
            await stream.beginning
        } onCancel: {
            cancel()
        }
        switch beginning {
        case .head(let head): return .init(head: head, body: .init(stream, of: self))
        case .end(let ending):
            let response = try ending.get()
            let whole = BodyStream()
            _ = whole.give(response.buffer, on: core.loop)
            whole.end(.success(()))
            return .init(head: response.head, body: .init(whole, of: self))
        }
    }
}

extension HTTPSession {
    /// Makes a request whose response's body is read while it arrives.
    ///
    /// The body's size is limited by ``RequestOptions/maximumBodySize`` only. Once the response's head was returned, the
    /// request is not resent by any policy.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: What the session's serializer puts into the query or the body.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they go into the
    ///     query.
    ///   - options: What this request does otherwise than the session.
    /// - Returns: The request; ``StreamRequest/response()`` waits for the response's head.
    public func stream(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> StreamRequest {
        var options = options
        options.destination = .stream
        return make(method, reference, parameters, headers, body, options)
    }
}
