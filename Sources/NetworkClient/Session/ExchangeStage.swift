package import NIOCore
package import NIOHTTP1

/// A step that each attempt of a request passes: it completes the head before it is sent, and reads the response.
///
/// A session has one ordered list of stages; `docs/interceptors.md` has the order. All members are called on the session's event
/// loop. What a stage keeps of a request, it keeps in the request's run, or by the request's number.
package protocol ExchangeStage: AnyObject {
    /// Whether ``willSend(_:_:)`` may be deferred for a request.
    ///
    /// Then this stage and those before it are asked before the request waits for a connection; the others when it has
    /// one, so that credentials are up to date.
    func mayDefer(_ request: RequestHandle) -> Bool

    /// Completes the head of an attempt, after the gate.
    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision

    /// Decides by the head of a response where its body goes.
    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision

    /// Returns what is to be given the response's body as it arrives, not yet decompressed; nil for nothing.
    func bodyTap(_ head: HTTPResponseHead, _ request: RequestHandle) -> BodyTap?

    /// Decides what follows a whole response.
    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision

    /// A request has ended, and with which error; nil for a response.
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

/// Whether a stage has completed a request's head.
package enum SendDecision {
    /// The next stage is asked.
    case ready
    /// The head comes later, or an error that ends the attempt.
    ///
    /// The closure runs in a task away from the event loop, which is cancelled with the request. The request's deadline
    /// goes on meanwhile. If the user pauses the request, the task is cancelled, and all stages are asked again later.
    case deferred(@Sendable () async throws(HTTPError) -> HTTPRequestHead)
}

/// Where the body of a response goes, as far as its head tells.
package enum HeadDecision: Sendable, Hashable {
    /// The next stage is asked; after the last one, the body goes to its receiver.
    case proceed
    /// The body goes to its receiver; another request most likely follows, so that a body that stalls is not waited for.
    case expectResend
    /// The body is kept from its receiver until it is decided what follows.
    case withhold(isLikelyResent: Bool)
    /// Another request follows: the body is read for the sake of the connection only.
    case discard
}

/// What follows a whole response.
package enum ResponseDecision: Sendable {
    /// The next stage is asked; after the last one, as ``end``.
    case proceed
    /// The response ends the request, unless it is retried because of its status.
    case end
    /// Another request is sent in its place.
    case resend(PreparedRequest)
    /// The decision comes later, by ``SessionCore/decided(_:_:_:)``.
    case deferred
    /// The request fails.
    case fail(HTTPError)
}

extension RequestHandle {
    /// The host of the URL that the present attempt asks for; confined to the session's event loop.
    package var currentHost: String { current.url.host }
}
