/// What happens to a request.
public enum RequestEvent: Sendable {
    /// It waits for a connection.
    case waiting
    /// It waits for a path to its destination, since there is none, or none that it may use.
    case waitingForConnectivity(because: String)
    /// It was paused by its user.
    case paused
    /// It was resumed by its user.
    case resumed
    /// An attempt failed, and there will be another one.
    case retrying(in: Duration, because: RetryReason, after: HTTPError)
    /// An attempt failed since the path is gone; it goes again when there is one, and this was no attempt.
    case pathLost(HTTPError)
    /// An attempt failed, and there will be no other one.
    case gaveUp(because: GiveUpReason)
    /// A connection takes it; the first attempt is 1. How the connection was made, long ago if it is reused.
    case attempt(Int, isReused: Bool, connection: ConnectMetrics)
    /// So many bytes of its body were handed over, of so many if that is known; of a body in memory, when all of it was.
    case sending(bytes: Int, of: Int64?)
    /// It was handed over whole.
    case sent
    /// The head of the answer came.
    case head(HTTPResponse)
    /// So many bytes of the body have come, of so many if the server said it; of a download that goes on, all there are.
    case received(bytes: Int, of: Int?)
    /// It goes again, since the connection it was on had died.
    case sentAgain(because: HTTPError)
    /// It was led elsewhere, and goes on there; URLs without user information and query.
    case redirected(from: String, to: String, status: Int)
    /// It was asked who is there, and goes again with an answer.
    case authenticating(scheme: String, realm: String?)
    /// It has ended.
    case finished(Result<DataResponse, HTTPError>)
}

/// Follows all requests of a session: for logs, statistics, an indicator of activity.
///
/// The methods are called on the session's event loop, in order, and must not block. Each has a default that does
/// nothing.
public protocol EventMonitor: Sendable {
    /// Something happened to a request.
    func request(_ request: RequestHandle, did event: RequestEvent)
    /// The session was invalidated and its last request has ended; called once.
    func sessionWasInvalidated()
}

extension EventMonitor {
    /// Does nothing.
    public func request(_ request: RequestHandle, did event: RequestEvent) {}
    /// Does nothing.
    public func sessionWasInvalidated() {}
}
