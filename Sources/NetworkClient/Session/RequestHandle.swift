import Dispatch
import Locking
import NIOCore
import NetworkClientCore
import Synchronization

/// A request: the common superclass of ``DataRequest``, ``DownloadRequest`` and ``StreamRequest``.
///
/// The session starts it immediately unless ``RequestOptions/startsAtOnce`` is false. Releasing it does not cancel it;
/// cancelling a task that waits for its response does. All members can be used from any thread.
///
/// Unchecked, because `run` is confined to the session's event loop; all else is constant, atomic or locked.
public class RequestHandle: @unchecked Sendable {
    /// Its number within the session, starting at 1.
    public final let id: UInt64
    final let core: SessionCore
    final let request: PreparedRequest
    private final let outcome = Lock(Outcome())
    private final let listeners = Lock<[@Sendable (RequestEvent) -> Void]>([])
    /// Whether there are listeners: events are not created without them.
    private final let isListenedTo = Atomic(false)
    /// Its ``State``, except for `finished`, for other threads.
    private final let publishedState = Atomic(State.ready.rawValue)
    /// Its progress and the history of its attempts; confined to the session's event loop.
    ///
    /// Stored, not computed: an accessor that checks the loop would allocate a coroutine frame at each access.
    nonisolated(unsafe) final var run: RequestRun

    required init(id: UInt64, _ request: consuming PreparedRequest, core: SessionCore) {
        self.id = id
        self.core = core
        self.request = request
        run = .init(start: .now())
    }

    /// Makes the receiver of the response's body; nil for memory.
    ///
    /// - Throws: ``HTTPError`` if the body can't be written to its destination.
    func makeReceiver() throws(HTTPError) -> (any BodyReceiver)? {
        guard case .receiver(let make) = request.destination else { return nil }
        return try make(self)
    }

    /// The method, the URL and the header fields of the request, including secret ones and the session's defaults.
    ///
    /// It does not contain the fields that are added to each attempt: credentials (Basic, Digest, bearer tokens),
    /// `Range` and `If-Range` of downloads, and fields for a proxy. Redirects do not change it. It is created at each
    /// access.
    public final var head: HTTPRequest { request.publicHead }

    /// Starts a request that was made with ``RequestOptions/startsAtOnce`` false, or continues one that is paused.
    ///
    /// A request that waits for a path still waits after this.
    public final func resume() {
        core.loop.execute { [self] in core.resume(self) }
    }

    /// Pauses the request until it is resumed: it is not sent, and on a connection it neither reads nor writes.
    ///
    /// All its time limits and delays stop. A download that can be continued with `Range` closes its connection, and
    /// continues after the received bytes; no other request is resent because of a pause. The server may close an idle
    /// connection: when the request is then resumed, it fails, or is retried if its policy allows that.
    public final func pause() {
        core.loop.execute { [self] in core.pause(self) }
    }

    /// Cancels the request, which fails with ``HTTPError/Code/cancelled``; does nothing if it has finished.
    ///
    /// Its connection is closed, since a response may still arrive on it.
    public final func cancel() {
        core.loop.execute { [self] in core.cancel(self) }
    }

    /// Waits until the request has finished; cancelling the task cancels the request.
    ///
    /// - Returns: The response, whatever its status, without a body that went to a file or stream; or the error.
    package final func ending() async -> Result<DataResponse, HTTPError> {
        await withTaskCancellationHandler {
            // Resumed once, by the outcome; a checked continuation would cost an allocation.
            await withUnsafeContinuation { continuation in
                let ending = outcome.withLock { $0.await(continuation) }
                if let ending { continuation.resume(returning: ending) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Calls a closure once with the outcome: immediately if the request has finished.
    package final func whenEnded(_ waiter: @escaping @Sendable (Result<DataResponse, HTTPError>) -> Void) {
        let ending = outcome.withLock { $0.call(waiter) }
        if let ending { waiter(ending) }
    }

    /// Calls a closure once with the outcome, on a queue or, if nil, on the session's queue for callbacks.
    final func whenEnded(
        on queue: DispatchQueue?,
        _ waiter: @escaping @Sendable (Result<DataResponse, HTTPError>) -> Void
    ) {
        let queue = queue ?? core.configuration.callbackQueue
        whenEnded { ending in queue.async { waiter(ending) } }
    }

    /// Whether the request has finished, successfully or not.
    public final var isFinished: Bool { outcome.withLock { $0.ending != nil } }

    /// The time at which it times out; nil for never.
    ///
    /// Confined to the session's event loop.
    final var deadline: NIODeadline? {
        if let deadline = run.scheduled?.deadline { return deadline }
        return request.limits.total.map { run.metrics.start + .init($0) + (run.extras?.paused ?? .zero) }
    }

    /// The endpoint of its connection, with the interface that was chosen for it.
    ///
    /// Confined to the session's event loop.
    final var endpoint: Endpoint {
        guard let binding = run.scheduled?.binding else { return current.endpoint }
        var endpoint = current.endpoint
        endpoint.binding = binding
        return endpoint
    }

    // MARK: On the event loop

    /// Changes the state.
    final func enter(_ state: RequestRun.State) {
        core.loop.preconditionInEventLoop()
        run.enter(state)
        publishState()
    }

    /// Ends the attempt, after which another one follows; see ``RequestRun/retry(wasProcessed:isRejected:)``.
    final func retry(wasProcessed: Bool, isRejected: Bool = false) {
        run.retry(wasProcessed: wasProcessed, isRejected: isRejected)
        publishState()
    }

    /// Abandons the attempt, after which another one follows.
    final func interrupt() {
        run.interrupt()
        publishState()
    }

    /// Records that the user pauses or resumes it.
    final func setPaused(_ isPaused: Bool) {
        run.setPaused(isPaused)
        publishState()
    }

    private final func publishState() { publishedState.store(run.publicState.rawValue, ordering: .relaxed) }

    /// Whether its events have listeners.
    final var hasListeners: Bool { isListenedTo.load(ordering: .relaxed) }

    /// Fails a request before it is returned to the user, so that nothing can start it.
    final func failUnstarted(_ error: HTTPError) {
        run.enter(.finished)
        var error = error
        error.tag = tag
        error.run = FailedRun(run.metrics.ended(at: request.url))
        end(.failure(error))
        core.events.reportLater(.finished(.failure(error)), self)
    }

    /// Finishes the request, and resumes all waiting tasks.
    final func end(_ ending: Outcome.Ending) { outcome.withLock { $0.end(ending) }?.tell(ending) }

    /// Reports to the session's monitors that the response was validated and decoded, or the error.
    final func reportSerialization(_ error: HTTPError?) { core.events.reportLater(.serialized(error), self) }

    /// The durations of its stages; nil until it has finished, successfully or not.
    public final var metrics: RequestMetrics? { outcome.withLock { $0.metrics } }
}

extension RequestHandle {
    /// The kind of a request: its purpose, which determines its class.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The response's body is held in memory: ``DataRequest``.
        case data
        /// The same, for a request that was made to send a body, by ``HTTPSession/upload(_:from:method:parameters:headers:options:)-(_,_,_,Parameters?,_,_)``.
        case upload
        /// The response's body is written to a file or a descriptor: ``DownloadRequest``.
        case download
        /// The response's body is read as an asynchronous sequence: ``StreamRequest``.
        case stream
        /// None: the connection becomes a ``WebSocket``, and the request finishes with it.
        case webSocket
    }

    /// Whether the request has TLS options of its own, in place of the session's.
    package final var hasOwnTLSOptions: Bool { request.endpoint.tls != nil }

    /// The kind of the request.
    public final var kind: Kind {
        switch self {
        case is DownloadRequest: .download
        case is StreamRequest: .stream
        case is WebSocketRequest: .webSocket
        default: request.isUpload ? .upload : .data
        }
    }
}

extension RequestHandle {
    /// The state of a request.
    public enum State: UInt8, Sendable, Hashable, CaseIterable {
        /// It has not been started.
        case ready
        /// It waits for a path, a connection or its next attempt.
        case waiting
        /// It is being sent, or its response received.
        case running
        /// It is paused by ``RequestHandle/pause()``.
        case paused
        /// It has finished, successfully or not.
        case finished
    }

    /// The current state, which may change at any time.
    public final var state: State {
        isFinished ? .finished : State(rawValue: publishedState.load(ordering: .relaxed)) ?? .ready
    }
}

extension RequestHandle {
    /// The events of the request from now on; the last one is ``RequestEvent/finished(_:)``.
    ///
    /// For a finished request, that is the only one. At most 256 events are buffered: a slow reader misses the oldest.
    public final var events: AsyncStream<RequestEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(256)) { continuation in
            listen { event in
                continuation.yield(event)
                if case .finished = event { continuation.finish() }
            }
        }
    }

    /// Calls a closure on the event loop with each event from now on; the last one is ``RequestEvent/finished(_:)``.
    final func listen(_ listener: @escaping @Sendable (RequestEvent) -> Void) {
        core.loop.execute { [self] in
            // Events are sent on this loop, so that none can be missed here.
            guard !isFinished else { return }
            isListenedTo.store(true, ordering: .relaxed)
            listeners.withLock { $0.append(listener) }
        }
        // It is retained until then, also if its user has released it.
        whenEnded { [self] ending in
            core.loop.execute { withExtendedLifetime(self) { listener(.finished(ending)) } }
        }
    }

    /// Sends an event to all listeners.
    final func tell(_ event: RequestEvent) {
        for listener in listeners.withLock({ $0 }) { listener(event) }
    }
}
