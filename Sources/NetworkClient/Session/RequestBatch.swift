public import Dispatch
import Locking

/// Requests that are waited for together.
///
/// ```swift
/// let batch = RequestBatch(paths.map { session.get($0) }) { finished, total in show(finished, total) }
/// for ending in await batch.endings() { … }
/// ```
///
/// Those that were not started are. To drop it cancels nothing.
public struct RequestBatch: Sendable {
    /// The requests, in the order in which they were given.
    public let requests: [RequestHandle]

    /// Makes a batch, and starts those of its requests that were not started.
    ///
    /// - Parameters:
    ///   - requests: The requests; none, too.
    ///   - queue: Where the closures are called; nil for a queue of the batch's own. They are called one after the other.
    ///   - progress: Called when a request has ended, well or not, with how many have, and of how many.
    ///   - completion: Called once, after the last call of `progress`; of an empty batch it is the only call.
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

    /// Waits for all.
    ///
    /// If the task is cancelled, so are the requests that have not ended.
    ///
    /// - Returns: How each ended, in the order of ``requests``: a response is without its body where that was written to
    ///   a file or read as a stream.
    public func endings() async -> [Result<DataResponse, HTTPError>] {
        await withTaskCancellationHandler {
            var endings: [Result<DataResponse, HTTPError>] = []
            for request in requests { endings.append(await request.ending()) }
            return endings
        } onCancel: {
            cancel()
        }
    }

    /// Cancels those that have not ended.
    public func cancel() {
        for request in requests { request.cancel() }
    }
}
