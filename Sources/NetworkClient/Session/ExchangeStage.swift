package import NIOCore
package import NIOHTTP1

/// A step that each attempt of a request passes: it completes the head before it is sent, and handles the response.
///
/// A session has one ordered list of stages; `docs/interceptors.md` has the order. All members are called on the
/// session's event loop. A stage stores the state of a request in its ``RequestRun``, or by its identifier.
package protocol ExchangeStage: AnyObject {
    /// Returns whether ``willSend(_:_:)`` may be deferred for a request.
    ///
    /// This stage and those before it are then called before the request waits for a connection, the others when it has
    /// one, so that credentials are up to date.
    func mayDefer(_ request: RequestHandle) -> Bool

    /// Completes the head of an attempt; called after the gate has opened.
    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision

    /// Decides from the head of a response where its body is delivered.
    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision

    /// Returns a closure that receives the body as it arrives, before decompression; nil for none.
    func bodyTap(_ head: HTTPResponseHead, _ request: RequestHandle) -> BodyTap?

    /// Decides what follows a complete response.
    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision

    /// Called when a request has ended: with an error, or nil for a response.
    func ended(_ error: HTTPError?, _ request: RequestHandle)
}

extension ExchangeStage {
    package func mayDefer(_ request: RequestHandle) -> Bool { false }
    package func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision { .ready }
    package func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision { .proceed }
    package func bodyTap(_ head: HTTPResponseHead, _ request: RequestHandle) -> BodyTap? { nil }
    package func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision { .proceed }
    package func ended(_ error: HTTPError?, _ request: RequestHandle) {}
}

/// Receives a response's body as it arrives.
package typealias BodyTap = (ByteBuffer) -> Void

/// A stage's decision on the head of a request.
package enum SendDecision {
    /// Continue with the next stage.
    case ready
    /// Wait for the closure, which returns the head or throws the error of the attempt.
    ///
    /// The closure runs in a task off the event loop, which is cancelled with the request. The request's deadline
    /// continues meanwhile. If the user pauses the request, the task is cancelled, and all stages are called again
    /// later.
    case deferred(@Sendable () async throws(HTTPError) -> HTTPRequestHead)
    /// Wait for a result without a task.
    ///
    /// The closure is called on the event loop, and must not block. It is given a closure to call once with the head, or
    /// with the error of the attempt. A result that comes after the request was cancelled or paused is ignored.
    case awaiting((@escaping @Sendable (Result<HTTPRequestHead, HTTPError>) -> Void) -> Void)
}

/// A stage's decision on the body of a response, made from its head.
package enum HeadDecision: Sendable, Hashable {
    /// Continue with the next stage; after the last one, deliver the body to its receiver.
    case proceed
    /// Deliver the body to its receiver, but do not wait if it stalls: another request most likely follows.
    case expectResend
    /// Keep the body in memory instead of delivering it, until the decision on the response.
    case withhold(isLikelyResent: Bool)
    /// Another request follows: read the body only to keep the connection.
    case discard
}

/// A stage's decision on a complete response.
package enum ResponseDecision: Sendable {
    /// Continue with the next stage; after the last one, as ``end``.
    case proceed
    /// End the request with the response, unless it is retried because of its status.
    case end
    /// Send another request in its place.
    case resend(PreparedRequest)
    /// Wait for the decision, which is passed to ``SessionCore/decided(_:_:_:)``.
    case deferred
    /// Fail the request.
    case fail(HTTPError)
}

extension RequestHandle {
    /// The host of the current attempt's URL; confined to the session's event loop.
    package var currentHost: String { current.url.host }
}
