import Locking
import NIOCore

extension HTTPSession {
    /// Invalidates the session, and waits until its requests have finished or are cancelled.
    ///
    /// ```swift
    /// let unfinished = await session.shutdown(within: .seconds(10))
    /// for request in unfinished { log("not sent: \(request.head.path ?? "")") }
    /// ```
    /// Later requests fail with ``HTTPError/Code/sessionInvalidated``. Requests that run, or wait for a path, a
    /// connection or their next attempt, are completed if they finish in time. Those that have not been started and
    /// those that are paused are cancelled immediately, because nothing else would end them. When the method returns, all
    /// requests have finished, and ``EventMonitor/sessionWasInvalidated()`` was called.
    ///
    /// If the task is cancelled, the remaining requests are cancelled immediately.
    ///
    /// - Parameter limit: The time after which the remaining requests are cancelled.
    /// - Returns: The requests that this method has cancelled, in the order in which they were made.
    @discardableResult
    public func shutdown(within limit: Duration) async -> [RequestHandle] {
        invalidate()
        // What was started or paused before this call is in that state after one turn of the loop.
        try? await core.loop.submit {}.get()
        let remaining = RemainingRequests(requests)
        remaining.cancel { $0.state == .ready || $0.state == .paused }
        let timer = core.loop.scheduleTask(in: .init(max(limit, .zero))) { remaining.cancel { _ in true } }
        let cancelled = await withTaskCancellationHandler {
            await remaining.end()
        } onCancel: {
            remaining.cancel { _ in true }
        }
        timer.cancel()
        // The end of the last request is reported in the same turn of the loop, after the request has ended.
        try? await core.loop.submit {}.get()
        return cancelled
    }
}

/// The unfinished requests of a session that is being shut down.
private final class RemainingRequests: Sendable {
    private let requests: [RequestHandle]
    /// The numbers of the requests that were cancelled.
    private let cancelled = Lock<Set<UInt64>>([])

    init(_ requests: [RequestHandle]) { self.requests = requests }

    /// Cancels the unfinished requests that meet a condition.
    func cancel(where condition: (RequestHandle) -> Bool) {
        for request in requests where !request.isFinished && condition(request) {
            _ = cancelled.withLock { $0.insert(request.id) }
            request.cancel()
        }
    }

    /// Waits until all requests have finished.
    ///
    /// - Returns: The requests that finished because they were cancelled here.
    func end() async -> [RequestHandle] {
        var unfinished: [RequestHandle] = []
        for request in requests {
            guard case .failure(let error) = await request.ending(), error.code == .cancelled else { continue }
            if cancelled.withLock({ $0.contains(request.id) }) { unfinished.append(request) }
        }
        return unfinished
    }
}
