import Dispatch
import Locking
import NIOCore
import NetworkClientCore
import Synchronization

/// A request that was made: what its kinds, ``DataRequest``, ``DownloadRequest`` and ``StreamRequest``, have in common.
///
/// The session has started it when it returns it, unless ``RequestOptions/startsAtOnce`` is false. Releasing it cancels
/// nothing; a task that waits for its response cancels it when the task is cancelled. All members can be used from any
/// thread.
///
/// Unchecked, because `run` belongs to the session's event loop; all else is constant, atomic or behind a lock.
public class RequestHandle: @unchecked Sendable {
    /// Its number within its session, from 1.
    public final let id: UInt64
    final let core: SessionCore
    final let request: PreparedRequest
    private final let outcome = Lock(Outcome())
    private final let listeners = Lock<[AsyncStream<RequestEvent>.Continuation]>([])
    /// Whether anybody listens: events cost nothing until then.
    private final let isListenedTo = Atomic(false)
    /// Its ``State``, but for the end, for other threads.
    private final let publishedState = Atomic(State.ready.rawValue)
    /// Where it is, and what became of its attempts; confined to the session's event loop.
    ///
    /// Stored, not computed: an accessor that checks the loop allocates a coroutine's frame each time.
    nonisolated(unsafe) final var run: RequestRun

    required init(id: UInt64, _ request: PreparedRequest, core: SessionCore) {
        self.id = id
        self.core = core
        self.request = request
        run = .init(start: .now())
    }

    /// Makes what takes the body of the response; nil for memory.
    ///
    /// - Throws: ``HTTPError`` for a body that can't be taken there.
    func makeReceiver() throws(HTTPError) -> (any BodyReceiver)? { nil }

    /// The request's head as its session has made it: with the user's fields, secrets among them, the session's and the
    /// defaults.
    ///
    /// It is without what each attempt adds: credentials (Basic, Digest, bearer tokens), a download's `Range` and
    /// `If-Range`, and what is for a proxy; and it is that of the first URL, whatever redirects followed. Made again
    /// each time it is asked for.
    public final var head: HTTPRequest { request.publicHead }

    /// Starts a request that was made with ``RequestOptions/startsAtOnce`` false, and lets one go on that was paused.
    ///
    /// Whether there is a path is another matter, which a gate decides by itself: neither undoes the other.
    public final func resume() {
        core.loop.execute { [self] in core.resume(self) }
    }

    /// Holds the request until it is resumed: what is not on a connection does not leave, what is reads and sends no
    /// more.
    ///
    /// None of its limits, waits and delays goes on meanwhile. A download that can go on by Range gives its connection
    /// up, and goes on behind what it has; nothing else is sent again because of a pause. How long a server bears a
    /// connection on which nothing happens is its own decision: if it is lost, the request fails when it is resumed, or
    /// goes again as its policy allows.
    public final func pause() {
        core.loop.execute { [self] in core.pause(self) }
    }

    /// Ends the request, wherever it is, with ``HTTPError/Code/cancelled``; does nothing once it has ended.
    ///
    /// Anyone who waits for it is told at once. Its connection is closed, since the answer may be on its way.
    public final func cancel() {
        core.loop.execute { [self] in core.cancel(self) }
    }

    /// Waits for the request's end; if the task is cancelled, so is the request.
    ///
    /// - Returns: The response, whatever its status, without the body if that went elsewhere; or the error.
    package final func ending() async -> Result<DataResponse, HTTPError> {
        await withTaskCancellationHandler {
            // Resumed once by the outcome, which gives it out once; the checked kind costs an allocation.
            await withUnsafeContinuation { continuation in
                let ending = outcome.withLock { $0.await(continuation) }
                if let ending { continuation.resume(returning: ending) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Calls a closure with the ending, once: immediately if the request has ended.
    package final func whenEnded(_ waiter: @escaping @Sendable (Result<DataResponse, HTTPError>) -> Void) {
        let ending = outcome.withLock { $0.call(waiter) }
        if let ending { waiter(ending) }
    }

    /// Calls a closure with the ending, once, on a queue, or on a thread of the library.
    final func whenEnded(
        on queue: DispatchQueue?,
        _ waiter: @escaping @Sendable (Result<DataResponse, HTTPError>) -> Void
    ) {
        whenEnded { ending in
            guard let queue else { return waiter(ending) }
            queue.async { waiter(ending) }
        }
    }

    /// Whether it has ended.
    public final var isFinished: Bool { outcome.withLock { $0.ending != nil } }

    /// When it must have ended; nil for never.
    ///
    /// Belongs to the session's event loop.
    final var deadline: NIODeadline? {
        if let deadline = run.scheduled?.deadline { return deadline }
        return request.limits.total.map { run.metrics.start + .init($0) + (run.extras?.paused ?? .zero) }
    }

    /// Where its connection leads: as it was made, but through the interface that was chosen for it.
    ///
    /// Belongs to the session's event loop.
    final var endpoint: Endpoint {
        guard let binding = run.scheduled?.binding else { return current.endpoint }
        var endpoint = current.endpoint
        endpoint.binding = binding
        return endpoint
    }

    // MARK: On the event loop

    /// Enters another state.
    final func enter(_ state: RequestRun.State) {
        core.loop.preconditionInEventLoop()
        run.enter(state)
        publishState()
    }

    /// Its attempt has ended, and there will be another one; see ``RequestRun/retry(wasProcessed:)``.
    final func retry(wasProcessed: Bool) {
        run.retry(wasProcessed: wasProcessed)
        publishState()
    }

    /// Its attempt is given up for another one.
    final func interrupt() {
        run.interrupt()
        publishState()
    }

    /// Its user pauses it, or resumes it.
    final func setPaused(_ isPaused: Bool) {
        run.setPaused(isPaused)
        publishState()
    }

    private final func publishState() { publishedState.store(run.publicState.rawValue, ordering: .relaxed) }

    /// Whether anybody listens to its events.
    final var hasListeners: Bool { isListenedTo.load(ordering: .relaxed) }

    /// Ends a request that nobody else has yet, so that nothing that is done to it later starts it.
    final func endUnstarted(_ ending: Outcome.Ending) {
        run.enter(.finished)
        end(ending)
    }

    /// Ends it and resumes all who wait.
    final func end(_ ending: Outcome.Ending) {
        let failure: FailedRun? = if case .failure = ending { .init(run.metrics) } else { nil }
        outcome.withLock { $0.end(ending, failure) }?.tell(ending)
    }

    /// How long each stage of the request took; nil until it has ended, well or not.
    public final var metrics: RequestMetrics? { outcome.withLock { $0.metrics } }
}

extension RequestHandle {
    /// What becomes of the body of a request's response.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// It is held in memory: ``DataRequest``.
        case data
        /// It is written to a file or a descriptor: ``DownloadRequest``.
        case download
        /// It is read while it arrives: ``StreamRequest``.
        case stream
    }

    /// Its kind, which says of what class it is.
    public final var kind: Kind {
        switch self {
        case is DownloadRequest: .download
        case is StreamRequest: .stream
        default: .data
        }
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
    public final var state: State {
        isFinished ? .finished : State(rawValue: publishedState.load(ordering: .relaxed)) ?? .ready
    }
}

extension RequestHandle {
    /// What happens to the request from now on, its ending included, which is the last event.
    ///
    /// Asked for after the ending, it is the ending alone. A slow reader misses the oldest events, never the last ones.
    public final var events: AsyncStream<RequestEvent> {
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
    final func tell(_ event: RequestEvent) {
        for listener in listeners.withLock({ $0 }) { listener.yield(event) }
    }
}
