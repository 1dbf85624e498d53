/// The time limits that users can't set, but tests can.
struct FixedLimits: Sendable {
    /// The timeout for a discarded body, and the read timeout for one that another request most likely follows.
    var discardedBody = Duration.seconds(2)
    /// The timeout for the body of an event stream's response with an error status.
    var errorBody = Duration.seconds(5)
    /// The maximum time without a byte on an HTTP/2 connection after a PING frame.
    var silence = Duration.seconds(5)
    /// The minimum time without a byte on an HTTP/2 connection after which it is checked if a request is cancelled.
    var silenceBeforeCancellation = Duration.seconds(1)
    /// The time for which a request with a requirement waits for the first state of the network although it should start
    /// immediately.
    var firstState = Duration.seconds(10)
}
