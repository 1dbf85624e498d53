public import Dispatch
import Locking
import NIOCore
import NetworkClientCore
import Synchronization

/// One request: to wait for, to follow, to cancel.
///
/// It has started when the session returns it, unless it was told not to. To drop it cancels nothing; to await it in a
/// task ties it to the task's cancellation. All members can be used from any thread.
public final class RequestHandle: Sendable {
    /// Its number within its session, from 1.
    public let id: UInt64
    let core: SessionCore
    let request: PreparedRequest
    private let outcome = Lock(Outcome())
    private let listeners = Lock<[AsyncStream<RequestEvent>.Continuation]>([])
    /// Whether anybody listens: events cost nothing until then.
    private let isListenedTo = Atomic(false)
    /// What the answer's body is read from, if it is.
    let stream: BodyStream?
    /// Its ``State``, but for the end, for other threads.
    private let publishedState = Atomic(State.ready.rawValue)
    /// Where it is, and what became of its attempts; confined to the session's event loop.
    ///
    /// Stored, not computed: an accessor that checks the loop allocates a coroutine's frame each time.
    nonisolated(unsafe) var run: RequestRun

    init(id: UInt64, _ request: PreparedRequest, core: SessionCore) {
        self.id = id
        self.core = core
        self.request = request
        if case .stream = request.destination { stream = BodyStream() } else { stream = nil }
        run = .init(start: .now())
        guard let stream else { return }
        whenEnded { stream.requestEnded($0) }
    }

    /// The request's head as its session has made it: with the user's fields, secrets among them, the session's and the
    /// defaults.
    ///
    /// It is without what each attempt adds: credentials (Basic, Digest, bearer tokens), a download's `Range` and
    /// `If-Range`, and what is for a proxy; and it is that of the first URL, whatever redirects followed. Made again
    /// each time it is asked for.
    public var head: HTTPRequest { request.publicHead }

    /// Starts a request that was made with ``RequestOptions/startsAtOnce`` false, and lets one go on that was paused.
    ///
    /// Whether there is a path is another matter, which a gate decides by itself: neither undoes the other.
    public func resume() {
        core.loop.execute { [self] in core.resume(self) }
    }

    /// Holds the request until it is resumed: what is not on a connection does not leave, what is reads and sends no
    /// more.
    ///
    /// None of its limits, waits and delays goes on meanwhile. A download that can go on by Range gives its connection
    /// up, and goes on behind what it has; nothing else is sent again because of a pause. How long a server bears a
    /// connection on which nothing happens is its own decision: if it is lost, the request fails when it is resumed, or
    /// goes again as its policy allows.
    public func pause() {
        core.loop.execute { [self] in core.pause(self) }
    }

    /// Ends the request, wherever it is, with ``HTTPError/Code/cancelled``; does nothing once it has ended.
    ///
    /// Anyone who waits for it is told at once. Its connection is closed, since the answer may be on its way.
    public func cancel() {
        core.loop.execute { [self] in core.cancel(self) }
    }

    /// The answer, whatever its status.
    ///
    /// - Returns: The whole answer.
    /// - Throws: ``HTTPError`` if none came. If the task is cancelled, the request is, too.
    public func response() async throws(HTTPError) -> DataResponse {
        let ending = await withTaskCancellationHandler {
            // Resumed once by the outcome, which gives it out once; the checked kind costs an allocation.
            await withUnsafeContinuation { continuation in
                let ending = outcome.withLock { $0.await(continuation) }
                if let ending { continuation.resume(returning: ending) }
            }
        } onCancel: {
            cancel()
        }
        return try ending.get()
    }

    /// Calls a closure with the ending, once: at once if it has ended.
    func whenEnded(_ waiter: @escaping Outcome.Waiter) {
        let ending = outcome.withLock { $0.call(waiter) }
        if let ending { waiter(ending) }
    }

    /// Whether it has ended.
    public var isFinished: Bool { outcome.withLock { $0.ending != nil } }

    /// When it must have ended; nil for never.
    ///
    /// Belongs to the session's event loop.
    var deadline: NIODeadline? {
        if let deadline = run.scheduled?.deadline { return deadline }
        return request.limits.total.map { run.metrics.start + .init($0) + (run.extras?.paused ?? .zero) }
    }

    /// Where its connection leads: as it was made, but through the interface that was chosen for it.
    ///
    /// Belongs to the session's event loop.
    var endpoint: Endpoint {
        guard let binding = run.scheduled?.binding else { return current.endpoint }
        var endpoint = current.endpoint
        endpoint.binding = binding
        return endpoint
    }

    // MARK: On the event loop

    /// Enters another state.
    func enter(_ state: RequestRun.State) {
        core.loop.preconditionInEventLoop()
        run.enter(state)
        publishState()
    }

    /// Its attempt has ended, and there will be another one; see ``RequestRun/retry(wasProcessed:)``.
    func retry(wasProcessed: Bool) {
        run.retry(wasProcessed: wasProcessed)
        publishState()
    }

    /// Its attempt is given up for another one.
    func interrupt() {
        run.interrupt()
        publishState()
    }

    /// Its user pauses it, or resumes it.
    func setPaused(_ isPaused: Bool) {
        run.setPaused(isPaused)
        publishState()
    }

    private func publishState() { publishedState.store(run.publicState.rawValue, ordering: .relaxed) }

    /// Whether anybody listens to its events.
    var hasListeners: Bool { isListenedTo.load(ordering: .relaxed) }

    /// Ends a request that nobody else has yet, so that nothing that is done to it later starts it.
    func endUnstarted(_ ending: Outcome.Ending) {
        run.enter(.finished)
        end(ending)
    }

    /// Ends it and tells anyone who waits.
    func end(_ ending: Outcome.Ending) {
        outcome.withLock { $0.end(ending) }?.tell(ending)
    }
}

extension RequestHandle {
    /// Where a request is, as its user sees it.
    public enum State: UInt8, Sendable, Hashable, CaseIterable {
        /// It was not started.
        case ready
        /// It waits: for a path, for its next attempt, for a connection.
        case waiting
        /// It is on a connection.
        case running
        /// Its user has paused it.
        case paused
        /// It has ended, well or not.
        case finished
    }

    /// Where it is; a moment later it may be elsewhere.
    public var state: State {
        isFinished ? .finished : State(rawValue: publishedState.load(ordering: .relaxed)) ?? .ready
    }
}

extension RequestHandle {
    /// The answer as a serializer makes it.
    ///
    /// - Parameter serializer: Holds the answer against what is expected, and decodes it.
    /// - Returns: The value.
    /// - Throws: ``HTTPError``: as ``response()``, or ``HTTPError/Code/unacceptableStatus``,
    ///   ``HTTPError/Code/unacceptableContentType`` or ``HTTPError/Code/responseSerializationFailed`` with the answer's
    ///   head, the beginning of its body, and what could be decoded of it all the same.
    public func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer
    ) async throws(HTTPError) -> Serializer.Output {
        try value(serializer, of: await response())
    }

    func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        of response: DataResponse
    ) throws(HTTPError) -> Serializer.Output {
        do {
            return try serializer.serialize(response.head, body: response.bytes)
        } catch {
            throw HTTPError(error, response, for: request.description)
        }
    }

    /// The answer's body as a value, from JSON.
    ///
    /// - Parameter type: The value's type.
    /// - Returns: The value.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self
    ) async throws(HTTPError) -> Value {
        try await value(DecodableResponseSerializer<Value>())
    }

    /// The answer's body as JSON of any shape; nil for an empty body.
    ///
    /// - Returns: The value.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func json() async throws(HTTPError) -> JSONResponseSerializer.Output {
        try await value(JSONResponseSerializer())
    }

    /// The answer's body as text, by the charset of its `Content-Type`, else UTF-8.
    ///
    /// - Returns: The text.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func string() async throws(HTTPError) -> String { try await value(StringResponseSerializer()) }

    /// The answer's body as it is, if the status is one of success.
    ///
    /// - Returns: The bytes.
    /// - Throws: ``HTTPError``, as ``value(_:)``.
    public func bytes() async throws(HTTPError) -> [UInt8] { try await value(BytesResponseSerializer()) }
}

extension HTTPError {
    /// How much of an answer's body an error keeps.
    static let keptBody = 4_096

    init(_ error: ResponseSerializationError, _ response: DataResponse, for request: String) {
        let code: Code =
            switch error.code {
            case .unacceptableStatus: .unacceptableStatus
            case .unacceptableContentType: .unacceptableContentType
            case .undecodable: .responseSerializationFailed
            }
        self.init(code, Processing(status: response.head.status.code), "\(error)", cause: error.underlying)
        self.request = request
        self.response = response.head
        self.body = Array(response.buffer.readableBytesView.prefix(Self.keptBody))
        self.decoded = error.decoded
    }
}

extension RequestHandle {
    /// Calls a closure with the answer, whatever its status, or the error; once.
    ///
    /// - Parameters:
    ///   - queue: Where it is called; nil for a thread of the library, on which the closure must not block.
    ///   - completion: The closure.
    /// - Returns: The handle itself, so that calls can be chained.
    @discardableResult
    public func response(
        on queue: DispatchQueue? = nil,
        _ completion: @escaping @Sendable (Result<DataResponse, HTTPError>) -> Void
    ) -> Self {
        whenEnded { ending in
            guard let queue else { return completion(ending) }
            queue.async { completion(ending) }
        }
        return self
    }

    /// Calls a closure with what a serializer makes of the answer, or the error; once.
    ///
    /// The answer is decoded on the queue, not on the thread that receives.
    ///
    /// - Parameters:
    ///   - serializer: Holds the answer against what is expected, and decodes it.
    ///   - queue: Where both happens.
    ///   - completion: The closure.
    /// - Returns: The handle itself, so that calls can be chained.
    @discardableResult
    public func value<Serializer: ResponseSerializer>(
        _ serializer: Serializer,
        on queue: DispatchQueue,
        _ completion: @escaping @Sendable (Result<Serializer.Output, HTTPError>) -> Void
    ) -> Self {
        response(on: queue) { [self] ending in
            completion(
                ending.flatMap { response in
                    Result { () throws(HTTPError) in try value(serializer, of: response) }
                }
            )
        }
    }

    /// Calls a closure with the answer's body as a value, from JSON, or the error; once.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - queue: Where it is decoded, and the closure called.
    ///   - completion: The closure.
    /// - Returns: The handle itself, so that calls can be chained.
    @discardableResult
    public func decoded<Value: Decodable & Sendable>(
        _ type: Value.Type,
        on queue: DispatchQueue,
        _ completion: @escaping @Sendable (Result<Value, HTTPError>) -> Void
    ) -> Self {
        value(DecodableResponseSerializer<Value>(), on: queue, completion)
    }
}

extension RequestHandle {
    /// What happens to the request from now on, its ending included, which is the last event.
    ///
    /// Asked for after the ending, it is the ending alone. A slow reader misses the oldest events, never the last ones.
    public var events: AsyncStream<RequestEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            core.loop.execute { [self] in
                // The loop is where events come from: none can come in between.
                guard !isFinished else { return }
                isListenedTo.store(true, ordering: .relaxed)
                listeners.withLock { $0.append(continuation) }
            }
            whenEnded { [core] ending in
                core.loop.execute {
                    continuation.yield(.finished(ending))
                    continuation.finish()
                }
            }
        }
    }

    /// Tells anyone who listens to this request.
    func tell(_ event: RequestEvent) {
        for listener in listeners.withLock({ $0 }) { listener.yield(event) }
    }
}
