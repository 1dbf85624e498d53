/// An event in the life of a request.
public enum RequestEvent: Sendable {
    /// The request waits for a connection.
    case waiting
    /// The request waits for a path to its destination: there is none, or none that meets its requirement.
    ///
    /// The event occurs again when the reason changes during the wait, for example from an unknown state to a missing path, and
    /// after a pause. A name that is looked up meanwhile, or a check of the path, is no new reason.
    case waitingForConnectivity(because: String)
    /// The user paused the request.
    case paused
    /// The user resumed the request.
    case resumed
    /// An attempt failed, and the request is retried after a delay.
    case retrying(in: Duration, because: RetryReason, after: HTTPError)
    /// An attempt failed because its path was lost; the request is resent when there is a path again. This does not
    /// count as an attempt.
    case pathLost(HTTPError)
    /// An attempt failed, and the request is not retried.
    case gaveUp(because: GiveUpReason)
    /// An attempt begins on a connection; the first one has number 1.
    ///
    /// The metrics describe how the connection was opened, which was earlier if it is reused.
    case attempt(Int, isReused: Bool, connection: ConnectMetrics)
    /// The number of bytes of the body that were passed to the connection, and the total if it is known.
    ///
    /// A body has at least one such event per 256 KiB, and a last one when all of it was passed.
    case sending(bytes: Int, of: Int64?)
    /// The complete request was passed to the connection.
    case sent
    /// The head of the response was received.
    case head(HTTPResponse)
    /// The server sends the rest of a download: the bytes before this offset were received in earlier attempts, of this
    /// process or another. With the length of the whole file if it is known.
    case resumedDownload(at: Int64, of: Int64?)
    /// The number of received bytes of the response's body, and the total if it is known.
    ///
    /// Bytes are counted before decompression; those of a download, as they are written, with those of earlier
    /// attempts.
    case received(bytes: Int, of: Int?)
    /// The request is resent immediately, because its reused connection was lost.
    case sentAgain(because: HTTPError)
    /// The request follows a redirect; the URLs are without user information and query.
    case redirected(from: String, to: String, status: Int)
    /// The server required authentication, and the request is resent with a credential or a newer token.
    case authenticating(scheme: String, realm: String?)
    /// The request has finished, with its response or error.
    ///
    /// A request that could not be made, for example because its URL is invalid, has only this event.
    case finished(Result<DataResponse, HTTPError>)
    /// The response was validated and decoded, by a function such as ``DataRequest/decoded(_:)``, or was rejected with an
    /// error.
    ///
    /// Only an ``EventMonitor`` receives this event: after ``finished(_:)``, once for each such call.
    case serialized(HTTPError?)
}

/// A receiver of the events of all requests of a session, for logs or statistics.
///
/// Except for ``requestWasMade(_:)``, the methods are called on the session's event loop, in order, and must not block. Their
/// default implementations do nothing.
public protocol EventMonitor: Sendable {
    /// Called once for each request before its events, unlike these on the thread and in the task that makes it, for
    /// example to read task-local values.
    ///
    /// It is not called for a request that fails when it is made, such as one with an invalid URL, whose only event is
    /// ``RequestEvent/finished(_:)``.
    func requestWasMade(_ request: RequestHandle)
    /// Called for each event of each request.
    func request(_ request: RequestHandle, did event: RequestEvent)
    /// Called once, when the session was invalidated and its last request has finished.
    ///
    /// Responses may still be decoded after that, and requests that are made later fail.
    func sessionWasInvalidated()
}

extension EventMonitor {
    /// Does nothing.
    public func requestWasMade(_ request: RequestHandle) {}
    /// Does nothing.
    public func request(_ request: RequestHandle, did event: RequestEvent) {}
    /// Does nothing.
    public func sessionWasInvalidated() {}
}
