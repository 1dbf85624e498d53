/// How far a failed request may have come: what decides whether it may be sent again.
public enum Processing: String, Sendable, Hashable, CaseIterable {
    /// No byte of it was handed to a connection: any method may be sent again.
    case neverSent
    /// The server says that it did nothing with it (421, 425; HTTP/2's REFUSED_STREAM).
    case refusedUnprocessed
    /// It was sent, wholly or in part, and no answer came: only what is idempotent may be sent again (RFC 9110, 9.2.2).
    case maybeProcessed
    /// The server has answered, at least with a head.
    case answered
}
