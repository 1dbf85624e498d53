import Locking
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// An HTTP/1.1 client, with the connections, defaults and trust settings that its requests share.
///
/// ```swift
/// let session = try HTTPSession(baseURL: "https://api.example.com/v1/")
/// let user: User = try await session.get("users/7", parameters: ["fields": ["name", "tags"]]).decoded()
/// ```
///
/// All members can be used from any thread. Requests that are running when the session is released are completed.
public final class HTTPSession: Sendable {
    /// The session's settings.
    public let configuration: HTTPConfiguration
    let core: SessionCore
    let preparation: RequestPreparation

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - baseURL: The URL against which relative references are resolved (RFC 3986, 5.2). A slash is appended to its
    ///     path if there is none: `https://api.example.com/v1` and `users` make `https://api.example.com/v1/users`. If
    ///     nil, requests need absolute URLs.
    ///   - configuration: The session's settings.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/invalidURL`` for the base URL, ``HTTPError/Code/invalidConfiguration``
    ///   for contradictory settings, or ``HTTPError/Code/tooManyDescriptors`` if the process has too few file
    ///   descriptors left.
    public convenience init(baseURL: String? = nil, configuration: HTTPConfiguration = .init()) throws(HTTPError) {
        try self.init(baseURL: baseURL, configuration, loop: RuntimeDescriptors.startedLoop(), .shared)
    }

    /// Creates a session on an event loop, with a resolver.
    init(
        baseURL: String?,
        _ configuration: HTTPConfiguration,
        loop: any EventLoop,
        _ resolver: NameResolver
    ) throws(HTTPError) {
        self.configuration = configuration
        let base = try Self.base(baseURL)
        try configuration.tls.policy.check(scheme: base?.scheme, of: "the base URL")
        core = try .init(configuration, loop: loop, resolver)
        preparation = try .init(configuration, base: base, netrc: core.netrc)
    }

    private static func base(_ text: String?) throws(HTTPError) -> HTTPURL? {
        guard let text else { return nil }
        return try HTTPURL(text).asBase
    }

    deinit {
        let core = core
        _ = core.registry.withLock { $0.close() }
        core.loop.execute { core.close() }
    }

    /// The requests that have not finished, in the order in which they were made.
    public var requests: [RequestHandle] {
        core.registry.withLock { $0.live.values.sorted { $0.id < $1.id } }
    }

    /// The handling of unfinished requests when a session is invalidated.
    public enum Invalidation: Sendable {
        /// They are completed.
        case finishingRequests
        /// They are cancelled.
        case cancellingRequests
    }

    /// Invalidates the session: later requests fail with ``HTTPError/Code/sessionInvalidated``, and connections are
    /// closed when they are no longer used.
    ///
    /// ``shutdown(within:)`` waits until all requests have finished.
    ///
    /// ``EventMonitor/sessionWasInvalidated()`` is called once, when the last request has finished.
    ///
    /// - Parameter invalidation: Whether unfinished requests are completed or cancelled.
    public func invalidate(_ invalidation: Invalidation = .finishingRequests) {
        let (_, running) = core.registry.withLock { $0.close() }
        if invalidation == .cancellingRequests {
            for request in running { request.cancel() }
        }
        core.loop.execute { [core] in core.close() }
    }
}

extension HTTPSession: CustomReflectable {
    /// A mirror with the configuration only: the other properties are confined to the event loop, or secret.
    public var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}

extension HTTPSession {
    /// Makes a request with any method, whose response is held in memory, and starts it.
    ///
    /// It is started immediately unless ``RequestOptions/startsAtOnce`` is false. All errors are reported by the
    /// request, including those before it is sent, such as an invalid URL or an invalidated session.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: The parameters, which the session's serializer writes into the query or the body: a literal, a
    ///     dictionary or any `Encodable` value.
    ///   - headers: Header fields, which replace the session's fields of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they are written into
    ///     the query.
    ///   - options: Settings that replace those of the session.
    /// - Returns: The request.
    @discardableResult
    public func request(
        _ method: HTTPRequest.Method,
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(method, reference, parameters, headers, body, options)
    }

    /// Makes a GET request, and starts it.
    ///
    /// ``request(_:_:parameters:headers:body:options:)-(_,_,Parameters?,_,_,_)`` describes the parameters and errors.
    @discardableResult
    public func get(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.get, reference, parameters, headers, .none, options)
    }

    /// Makes a HEAD request, whose response has no body, and starts it.
    ///
    /// ``request(_:_:parameters:headers:body:options:)-(_,_,Parameters?,_,_,_)`` describes the parameters and errors.
    @discardableResult
    public func head(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.head, reference, parameters, headers, .none, options)
    }

    /// Makes a DELETE request, and starts it.
    ///
    /// ``request(_:_:parameters:headers:body:options:)-(_,_,Parameters?,_,_,_)`` describes the parameters and errors.
    @discardableResult
    public func delete(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.delete, reference, parameters, headers, body, options)
    }

    /// Makes a POST request, and starts it; parameters are its body, or parts of a multipart form, or are in
    /// the query with another `body`.
    ///
    /// ``request(_:_:parameters:headers:body:options:)-(_,_,Parameters?,_,_,_)`` describes the parameters and errors.
    @discardableResult
    public func post(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.post, reference, parameters, headers, body, options)
    }

    /// Makes a PUT request, and starts it; parameters are its body, or parts of a multipart form, or are in
    /// the query with another `body`.
    ///
    /// ``request(_:_:parameters:headers:body:options:)-(_,_,Parameters?,_,_,_)`` describes the parameters and errors.
    @discardableResult
    public func put(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.put, reference, parameters, headers, body, options)
    }

    /// Makes a PATCH request, and starts it; parameters are its body, or parts of a multipart form, or are in
    /// the query with another `body`.
    ///
    /// ``request(_:_:parameters:headers:body:options:)-(_,_,Parameters?,_,_,_)`` describes the parameters and errors.
    @discardableResult
    public func patch(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(.patch, reference, parameters, headers, body, options)
    }

    /// Makes a request that sends a body, and starts it.
    ///
    /// ```swift
    /// let response = try await session.upload("reports/7", from: .file("/var/log/report.txt")).response()
    /// ```
    /// ``RequestHandle/progress`` reports how much has been sent.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - body: A file, a sequence, a form or bytes.
    ///   - method: The method. If the server may have processed the request, a PUT can be resent, a POST only with an
    ///     ``IdempotencyKey``.
    ///   - parameters: The parameters: the first parts of a multipart form; with another body they are written into the
    ///     query.
    ///   - headers: Header fields, which replace the session's fields of the same name.
    ///   - options: Settings that replace those of the session.
    /// - Returns: The request.
    @discardableResult
    public func upload(
        _ reference: String,
        from body: RequestBody,
        method: HTTPRequest.Method = .post,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        make(method, reference, parameters, headers, body, options.uploading)
    }
}

extension HTTPSession {
    /// Makes a request of any kind, and starts it unless `startsAtOnce` is false.
    func make<Handle: RequestHandle>(
        _ method: HTTPRequest.Method,
        _ reference: String,
        _ parameters: Parameters?,
        _ headers: HTTPFields,
        _ body: RequestBody,
        _ options: RequestOptions
    ) -> Handle {
        do throws(HTTPError) {
            let request = try preparation.prepare(method, reference, parameters, headers, body, options)
            let handle: Handle = core.handle(for: request)
            if options.startsAtOnce { handle.resume() }
            return handle
        } catch {
            return core.handle(for: .invalid(method, error, options))
        }
    }
}
