import NIOCore
import NIOHTTP1

/// Changes requests before they are sent, and decides on attempts that failed: for signatures, dates, trace identifiers.
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
/// Both methods are called in a task of the request, never on an event loop. The task is cancelled with the request. The
/// request's deadline goes on while a method runs, so that a method that never returns does not hold a request forever.
/// Each method has a default that changes nothing.
public protocol RequestInterceptor: Sendable {
    /// Returns the request as it is to be sent in one attempt.
    ///
    /// Called before each attempt, retries and those after a redirect or a challenge included: after the request has left
    /// its gate, and before credentials are added. Each call gets the request without the changes of the calls before. If
    /// the user pauses the request meanwhile, it is called again after the pause.
    ///
    /// Path, query and fields may be changed; method and origin may not. `Content-Length`, `Transfer-Encoding` and
    /// `Expect` stay as the client sets them.
    ///
    /// - Parameters:
    ///   - request: Method, URL and fields.
    ///   - attempt: The attempt.
    /// - Returns: The request to send.
    /// - Throws: Any error: the request fails with ``HTTPError/Code/interceptorFailed``, and the error is its cause.
    func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest

    /// Decides what follows a failed attempt; nil leaves it to the next interceptor, and then to the policy.
    ///
    /// Called for each attempt that failed, and each response with a status of 400 or more, whatever the policy of retries
    /// is, unless the request's body cannot be sent again, or the request cannot go on: it was cancelled, its deadline or
    /// its wait for connectivity has ended, or its body or file cannot be used. A decision to retry is subject to the
    /// deadline and to the host's retry budget and circuit breaker. What is decided while the user has paused the request
    /// happens after the pause.
    ///
    /// - Parameter attempt: The attempt, and what the policy decides.
    /// - Returns: The decision; nil for none.
    func retry(_ attempt: FailedAttempt) async -> RetryDecision?
}

extension RequestInterceptor {
    /// Returns the request as it is.
    public func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest { request }
    /// Leaves the decision to others.
    public func retry(_ attempt: FailedAttempt) async -> RetryDecision? { nil }
}

/// An attempt that is about to be sent, as an interceptor sees it.
public struct RequestAttempt: Sendable {
    /// The request.
    public let request: RequestHandle
    /// The number of the attempt, from 1; what an interceptor's error has kept from being sent is not counted.
    public let number: Int
    let buffer: ByteBuffer?

    /// The body, if it is in memory; nil for none, and for a file or a sequence.
    public var body: [UInt8]? { buffer.map { Array($0.readableBytesView) } }
}

/// An attempt that failed, as an interceptor sees it.
public struct FailedAttempt: Sendable {
    /// The request.
    public let request: RequestHandle
    /// The error; for a status, with the head of the response.
    public let error: HTTPError
    /// The number of attempts; waiting for connectivity is none.
    public let attempts: Int
    /// The decision of the policy, the budget and the deadline.
    public let decision: RetryDecision
}

/// The interceptors of one request.
final class RequestInterceptors: Sendable {
    private let session: [any RequestInterceptor]
    private let own: [any RequestInterceptor]

    /// Creates them; nil if there are none.
    init?(session: [any RequestInterceptor], own: [any RequestInterceptor]) {
        guard !session.isEmpty || !own.isEmpty else { return nil }
        (self.session, self.own) = (session, own)
    }

    /// Lets each change a head, the session's first.
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
                throw .init(
                    .interceptorFailed,
                    processing: .neverSent,
                    reason: "an interceptor failed: \(error)",
                    cause: error
                )
            }
        }
        return try head.adapted(to: request, at: url)
    }

    /// Returns the first decision on a failed attempt, the session's interceptors asked last.
    func retry(_ attempt: FailedAttempt) async -> RetryDecision? {
        for interceptor in own + session where !Task.isCancelled {
            if let decision = await interceptor.retry(attempt) { return decision }
        }
        return nil
    }

    /// The session's, and others of one request.
    func with(_ own: [any RequestInterceptor]) -> RequestInterceptors? { .init(session: session, own: own) }
}

extension HTTPRequestHead {
    /// The fields that belong to the framing of the body.
    private static let framing = ["Content-Length", "Transfer-Encoding", "Expect"]

    /// The head as interceptors have changed the request.
    ///
    /// - Throws: `interceptorFailed` for another method or origin.
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
        for name in Self.framing where head.headers[name] != headers[name] {
            head.headers.remove(name: name)
            for value in headers[name] { head.headers.add(name: name, value: value) }
        }
        return head
    }

    /// The target of a request, if it is not what it was.
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
                reason: "an interceptor made a URL of the request that is none",
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
