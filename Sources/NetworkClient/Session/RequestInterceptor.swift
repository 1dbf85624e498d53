import NIOCore
import NIOHTTP1

/// An interceptor, which changes requests before they are sent, and decides whether failed attempts are retried.
///
/// It can sign requests, or add dates or trace identifiers:
///
/// ```swift
/// struct Signer: RequestInterceptor {
///     func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
///         var request = request
///         request.headerFields[.authorization] = try await sign(request, attempt.body ?? [])
///         return request
///     }
/// }
/// let session = try HTTPSession(baseURL: url, configuration: .init(interceptors: [Signer()]))
/// ```
///
/// Both methods are called in a task of the request, never on an event loop. The task is cancelled with the request.
/// The request's total time limit includes the time in these methods, so that it also ends a method that never returns.
/// The default implementations change nothing.
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send in one attempt.
    ///
    /// Called before each attempt, including retries and those after a redirect or a challenge: after any wait for a
    /// path, and before credentials are added. Each call receives the request without the changes of earlier calls. If
    /// the user pauses the request meanwhile, the method is called again after the pause.
    ///
    /// Path, query and fields may be changed; method and origin may not. `Content-Length`, `Transfer-Encoding` and
    /// `Expect` keep the client's values.
    ///
    /// - Parameters:
    ///   - request: The method, the URL and the fields.
    ///   - attempt: The attempt.
    /// - Returns: The request to send.
    /// - Throws: Any error. The request fails with ``HTTPError/Code/interceptorFailed``, with the error as its cause.
    func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest

    /// Decides whether a failed attempt is retried; nil leaves the decision to the next interceptor, and finally to the
    /// policy.
    ///
    /// Called after each failed attempt and each response with a status of 400 or more, whatever the ``RetryPolicy``
    /// is. It is not called if the body can't be resent, or the request can't continue: it was cancelled, it or its
    /// wait for connectivity has timed out, or its body or file can't be used. A decision to retry is subject to the
    /// deadline and to the host's retry budget and circuit breaker. While the request is paused, a decision takes
    /// effect after the pause.
    ///
    /// - Parameter attempt: The attempt, and the decision of the policy.
    /// - Returns: The decision; nil for none.
    func retry(_ attempt: FailedAttempt) async -> RetryDecision?
}

extension RequestInterceptor {
    /// Returns the request unchanged.
    public func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest { request }
    /// Returns nil, which leaves the decision to others.
    public func retry(_ attempt: FailedAttempt) async -> RetryDecision? { nil }
}

/// An interceptor that prepares attempts without a task.
///
/// As a request's only interceptor, in a session without interceptors, it is called on the session's event loop; with
/// others, in the request's task.
package protocol AttemptHook: RequestInterceptor {
    /// Prepares an attempt, and calls a closure once with the fields to set in its head, or with the request's error.
    ///
    /// It must not block.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - isSameOrigin: Whether it is sent to the origin of the original request.
    ///   - completion: The closure, which may be called on any thread, also before this method returns.
    func prepare(
        _ attempt: RequestAttempt,
        isSameOrigin: Bool,
        _ completion: @escaping @Sendable (Result<HTTPFields, any Error>) -> Void
    )

    /// Called when the server has asked to repeat the request, elsewhere or with credentials, for which it may have to wait
    /// for a path; not called if there are other interceptors.
    ///
    /// - Returns: Whether it is repeated; otherwise it ends with the code ``HTTPError/Code/cancelled``.
    func mayGoOn() -> Bool

    /// Returns whether a response may be the server's own, so that its `Retry-After` holds for all requests to the host; not
    /// called if there are other interceptors.
    func isOfServer(_ head: HTTPResponse) -> Bool
}

extension AttemptHook {
    package func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
        let first = attempt.request.head
        let isSameOrigin = request.scheme == first.scheme && request.authority == first.authority
        let fields = try await withCheckedThrowingContinuation { continuation in
            prepare(attempt, isSameOrigin: isSameOrigin) { continuation.resume(with: $0) }
        }
        var request = request
        for field in fields { request.headerFields[field.name] = field.value }
        return request
    }
}

/// An attempt that is about to be sent.
public struct RequestAttempt: Sendable {
    /// The request.
    public let request: RequestHandle
    /// The number of the attempt, starting at 1; an attempt that an interceptor's error prevented is not counted.
    public let number: Int
    let buffer: ByteBuffer?

    /// The body, if it is in memory; nil for none, and for a file or a sequence.
    public var body: [UInt8]? { buffer.map { Array($0.readableBytesView) } }
}

/// An attempt that failed.
public struct FailedAttempt: Sendable {
    /// The request.
    public let request: RequestHandle
    /// The error; for a status, with the head of the response.
    public let error: HTTPError
    /// The number of attempts; waiting for connectivity does not count.
    public let attempts: Int
    /// The decision by the policy, the retry budget and the deadline.
    public let decision: RetryDecision
}

/// The interceptors of one request.
final class RequestInterceptors: Sendable {
    private let session: [any RequestInterceptor]
    private let own: [any RequestInterceptor]
    /// The request's own interceptor, if it is the only one and needs no task; nil otherwise.
    let hook: (any AttemptHook)?

    /// Creates them; nil if there are none.
    init?(session: [any RequestInterceptor], own: [any RequestInterceptor]) {
        guard !session.isEmpty || !own.isEmpty else { return nil }
        (self.session, self.own) = (session, own)
        hook = session.isEmpty && own.count == 1 ? own[0] as? any AttemptHook : nil
    }

    /// Returns the head as changed by all interceptors, the session's first.
    func adapt(
        _ head: HTTPRequestHead,
        at url: HTTPURL,
        for attempt: RequestAttempt
    ) async throws(HTTPError) -> HTTPRequestHead {
        var request = HTTPRequest(head, at: url)
        for interceptor in session + own {
            do {
                try Task.checkCancellation()
                request = try await interceptor.adapt(request, for: attempt)
            } catch {
                throw Self.failure(error)
            }
        }
        return try head.adapted(to: request, at: url)
    }

    /// Returns the first decision about a failed attempt; the session's interceptors are called last.
    func retry(_ attempt: FailedAttempt) async -> RetryDecision? {
        for interceptor in own + session where !Task.isCancelled {
            if let decision = await interceptor.retry(attempt) { return decision }
        }
        return nil
    }

    /// Returns the error of a request whose interceptor has thrown one.
    fileprivate static func failure(_ error: any Error) -> HTTPError {
        .init(.interceptorFailed, processing: .neverSent, reason: "an interceptor failed: \(error)", cause: error)
    }

    /// Returns the session's interceptors with those of one request.
    func with(_ own: [any RequestInterceptor]) -> RequestInterceptors? { .init(session: session, own: own) }
}

extension HTTPRequestHead {
    /// Returns the head with the fields that a hook sets, or its error.
    func adding(_ fields: Result<HTTPFields, any Error>) -> Result<HTTPRequestHead, HTTPError> {
        fields.map { fields in
            var head = self
            for field in fields { head.headers.replaceOrAdd(name: field.name.rawName, value: field.value) }
            return head
        }
        .mapError { RequestInterceptors.failure($0) }
    }

    /// Returns the head with the interceptors' changes.
    ///
    /// - Throws: `interceptorFailed` for a changed method or origin, or an invalid URL.
    fileprivate func adapted(to request: HTTPRequest, at url: HTTPURL) throws(HTTPError) -> Self {
        guard request.method.rawValue == method.rawValue else {
            let reason = "an interceptor changed the method from \(method.rawValue) to \(request.method.rawValue)"
            throw .init(
                .interceptorFailed,
                processing: .neverSent,
                reason: "\(reason): it may change path, query and fields"
            )
        }
        var head = self
        if let target = try Self.target(of: request, at: url, unless: uri) { head.uri = target }
        head.headers = HTTPHeaders(request.headerFields, host: url.authority)
        head.headers.keepFraming(of: headers)
        return head
    }

    /// Returns the target of a request; nil if it is unchanged.
    private static func target(
        of request: HTTPRequest,
        at url: HTTPURL,
        unless old: String
    ) throws(HTTPError) -> String? {
        let (scheme, authority) = (request.scheme ?? url.scheme, request.authority ?? url.authority)
        let hasSameOrigin = scheme == url.scheme && authority == url.authority
        if hasSameOrigin, request.path ?? old == old { return nil }
        let changed: HTTPURL
        do throws(HTTPError) {
            changed = try HTTPURL("\(scheme)://\(authority)\(request.path ?? old)")
        } catch {
            throw .init(
                .interceptorFailed,
                processing: .neverSent,
                reason: "an interceptor changed the URL to an invalid one",
                cause: error
            )
        }
        guard hasSameOrigin || changed.origin == url.origin else {
            let reason = "an interceptor changed the origin from \(url.origin) to \(changed.origin)"
            throw .init(
                .interceptorFailed,
                processing: .neverSent,
                reason: "\(reason): it may change path, query and fields"
            )
        }
        return changed.target
    }
}
