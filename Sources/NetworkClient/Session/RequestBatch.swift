public import Dispatch
import Locking

/// A group of requests with a common progress and completion.
///
/// ```swift
/// let batch = RequestBatch(paths.map { session.get($0) }) { finished, total in show(finished, total) }
/// for ending in await batch.endings() { … }
/// ```
///
/// Requests that have not been started are started. Releasing the batch does not cancel its requests.
public struct RequestBatch: Sendable {
    /// The requests, in the order in which they were passed.
    public let requests: [RequestHandle]

    /// Creates a batch, and starts the requests that have not been started.
    ///
    /// - Parameters:
    ///   - requests: The requests; may be empty.
    ///   - queue: The queue to call the closures on, one after the other; nil for a private queue.
    ///   - progress: Called whenever a request has finished, successfully or not, with the number of finished requests
    ///     and the total.
    ///   - completion: Called once, after the last call of `progress`, with all requests; also for an empty batch.
    public init(
        _ requests: [RequestHandle],
        on queue: DispatchQueue? = nil,
        progress: (@Sendable (_ finished: Int, _ total: Int) -> Void)? = nil,
        completion: (@Sendable ([RequestHandle]) -> Void)? = nil
    ) {
        self.requests = requests
        let turns = DispatchQueue(label: "netwatch.batch", target: queue)
        let count = Lock(0)
        if requests.isEmpty { turns.async { completion?([]) } }
        for request in requests {
            request.whenEnded { _ in
                turns.async {
                    let finished = count.withLock { count in
                        count += 1
                        return count
                    }
                    progress?(finished, requests.count)
                    if finished == requests.count { completion?(requests) }
                }
            }
            if request.state == .ready { request.resume() }
        }
    }

    /// Waits until all requests have finished.
    ///
    /// Cancelling the task cancels the unfinished requests.
    ///
    /// - Returns: The outcome of each request, in the order of ``requests``. A response does not contain a body that
    ///   was written to a file or read as a stream.
    public func endings() async -> [Result<DataResponse, HTTPError>] {
        await withTaskCancellationHandler {
            var endings: [Result<DataResponse, HTTPError>] = []
            for request in requests { endings.append(await request.ending()) }
            return endings
        } onCancel: {
            cancel()
        }
    }

    /// Cancels the requests that have not finished.
    public func cancel() {
        for request in requests { request.cancel() }
    }
}
