/// The result of one attempt to send an item.
package enum AttemptResult: Sendable, Hashable {
    /// A response was received.
    ///
    /// - isConfirmed: Whether it comes from the destination for certain, rather than from a captive portal.
    case response(status: Int, retryAfter: Duration?, isConfirmed: Bool)
    /// There was no response, or no complete one.
    ///
    /// - mayBeProcessed: Whether the server may have processed the request.
    case failure(FailureScope, mayBeProcessed: Bool)
}

/// The scope of a failure without a response.
package enum FailureScope: Sendable, Hashable {
    /// The item alone: its body is lost, its URL is invalid.
    case item
    /// The destination, the network to it, its name or its certificate: all items of the lane fail alike.
    case destination
    /// This machine or this program: the attempt says nothing about item and destination.
    case interrupted
}

/// The consequence of an attempt.
package enum Verdict: Sendable, Hashable {
    /// The item is delivered.
    case delivered
    /// The item failed: it loses one of its attempts.
    case itemFailed(mayBeProcessed: Bool)
    /// The server has a conflict with the request: perhaps it is still processing an earlier attempt with the same key.
    case conflict
    /// The destination failed: the lane pauses, and the item keeps its attempts.
    case destinationFailed(retryAfter: Duration?, mayBeProcessed: Bool)
    /// The attempt was interrupted.
    case interrupted(mayBeProcessed: Bool)

    /// Whether the server may have processed the request.
    package var mayBeProcessed: Bool {
        switch self {
        case .delivered: true
        case .conflict: false
        case .itemFailed(let mayBeProcessed), .destinationFailed(_, let mayBeProcessed),
            .interrupted(let mayBeProcessed):
            mayBeProcessed
        }
    }
}

extension AttemptResult {
    /// The consequence of the attempt.
    ///
    /// Errors that a single request calls permanent are the destination's here: a wrong clock, an expired certificate or
    /// a missing name must not end the items of weeks.
    package var verdict: Verdict {
        switch self {
        case .failure(.item, let mayBeProcessed): .itemFailed(mayBeProcessed: mayBeProcessed)
        case .failure(.destination, let mayBeProcessed):
            .destinationFailed(retryAfter: nil, mayBeProcessed: mayBeProcessed)
        case .failure(.interrupted, let mayBeProcessed): .interrupted(mayBeProcessed: mayBeProcessed)
        // A stranger's `Retry-After` holds nothing back from the destination.
        case .response(_, _, isConfirmed: false): .destinationFailed(retryAfter: nil, mayBeProcessed: false)
        case .response(200..<300, _, _): .delivered
        // draft-ietf-httpapi-idempotency-key-header: a request with this key is being processed.
        case .response(409, _, _): .conflict
        case .response(let status, _, _) where Self.isOfItem(status):
            .itemFailed(mayBeProcessed: Self.mayBeProcessed(status))
        case .response(let status, let retryAfter, _):
            .destinationFailed(retryAfter: retryAfter, mayBeProcessed: Self.mayBeProcessed(status))
        }
    }

    /// Whether a status rejects the item, rather than all requests at present.
    ///
    /// 401, 402, 403, 407, 451: access, until it is granted. 408, 421, 423 to 426, 429 and 5xx: the server's state. 1xx and
    /// 3xx: a redirect that was not followed, such as a captive portal's.
    private static func isOfItem(_ status: Int) -> Bool {
        switch status {
        case 401, 402, 403, 407, 408, 421, 423, 424, 425, 426, 429, 451: false
        case 400..<500: true
        default: false
        }
    }

    /// Whether a server that responds with a status may have processed the request, at least in part.
    ///
    /// 503 says that it is unable to handle it (RFC 9110, 15.6.4); any other 5xx may follow its effects.
    package static func mayBeProcessed(_ status: Int) -> Bool { status >= 500 && status != 503 }
}
