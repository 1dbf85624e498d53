import Locking
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// An HTTP client: keeps connections, defaults and trust for the requests made with it.
///
/// ```swift
/// let session = try HTTPSession(baseURL: "https://api.example.com/v1/")
/// let user: User = try await session.get("users/7", parameters: ["fields": ["name", "tags"]]).decoded()
/// ```
///
/// All members can be used from any thread. A session that is released finishes its requests.
public final class HTTPSession: Sendable {
    /// How the session behaves.
    public let configuration: HTTPConfiguration
    let core: SessionCore
    let base: HTTPURL?
    /// How requests wait and go again that do not say otherwise.
    let policy: RequestPolicy
    let fields: HTTPFields
    /// What most requests have: the session's fields and the base URL's host, ready for the wire.
    let readyHeaders: PreparedHeaders

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - baseURL: What relative references are resolved against (RFC 3986, 5.2). If it has a path that does not end
    ///     with a slash, it gains one: `https://api.example.com/v1` and `users` make
    ///     `https://api.example.com/v1/users`.
    ///   - configuration: How it behaves.
    /// - Throws: ``HTTPError`` if the base URL is none, the configuration contradicts itself, or the process has too
    ///   few descriptors left to begin with.
    public convenience init(baseURL: String? = nil, configuration: HTTPConfiguration = .init()) throws(HTTPError) {
        try self.init(baseURL: baseURL, configuration, loop: RuntimeDescriptors.startedLoop(), .shared)
    }

    /// Makes a session that lives on a loop and looks names up as it is told.
    init(
        baseURL: String?,
        _ configuration: HTTPConfiguration,
        loop: any EventLoop,
        _ resolver: NameResolver
    ) throws(HTTPError) {
        self.configuration = configuration
        base = try Self.base(baseURL)
        policy = try RequestPolicy(configuration).with(.init(), binding: configuration.binding)
        fields = DefaultFields.fields(for: configuration)
        readyHeaders = .init(fields, authority: base?.authority ?? "")
        try configuration.tls.policy.check(baseScheme: base?.scheme)
        core = try .init(configuration, loop: loop, resolver)
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

    /// The requests that have not ended, in the order in which they were made.
    public var requests: [RequestHandle] {
        core.registry.withLock { $0.live.values.sorted { $0.id < $1.id } }
    }

    /// What becomes of the requests of a session that is invalidated.
    public enum Invalidation: Sendable {
        /// They come to their end.
        case finishingRequests
        /// They are cancelled.
        case cancellingRequests
    }

    /// Ends the session: it takes no more requests, and closes its connections.
    ///
    /// ``EventMonitor/sessionWasInvalidated()`` is called once, when the last request has ended.
    ///
    /// - Parameter invalidation: What becomes of the requests that have not ended.
    public func invalidate(_ invalidation: Invalidation = .finishingRequests) {
        let (_, running) = core.registry.withLock { $0.close() }
        if invalidation == .cancellingRequests {
            for request in running { request.cancel() }
        }
        core.loop.execute { [core] in core.close() }
    }
}

extension HTTPSession: CustomReflectable {
    /// Has its configuration alone: what else it holds belongs to its event loop, and some of it is secret.
    public var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}

extension HTTPSession {
    /// Makes a request of any method whose response is held in memory; it starts immediately, unless the options say
    /// otherwise.
    ///
    /// What can't be sent (a bad URL, parameters that can't be written, an invalidated session) is an error of the
    /// request, like all others.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: What the session's serializer puts into the query or the body. A literal, a dictionary or any
    ///     `Encodable` value.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - body: The body. Parameters become the first parts of a multipart form; with another body they go into the
    ///     query.
    ///   - options: What this request does otherwise than the session.
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

    /// Makes a GET request.
    @discardableResult
    public func get(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.get, reference, parameters: parameters, headers: headers, options: options)
    }

    /// Makes a HEAD request, whose response has no body.
    @discardableResult
    public func head(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.head, reference, parameters: parameters, headers: headers, options: options)
    }

    /// Makes a DELETE request.
    @discardableResult
    public func delete(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.delete, reference, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a POST request; parameters are the body, or part of a multipart form, or go into the query if there is
    /// another body.
    @discardableResult
    public func post(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.post, reference, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a PUT request; parameters are the body, or part of a multipart form, or go into the query if there is
    /// another body.
    @discardableResult
    public func put(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.put, reference, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a PATCH request; parameters are the body, or part of a multipart form, or go into the query if there is
    /// another body.
    @discardableResult
    public func patch(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        body: RequestBody = .none,
        options: RequestOptions = .init()
    ) -> DataRequest {
        request(.patch, reference, parameters: parameters, headers: headers, body: body, options: options)
    }

    /// Makes a request that sends a body.
    ///
    /// ```swift
    /// let response = try await session.upload("reports/7", from: .file("/var/log/report.txt")).response()
    /// ```
    /// ``RequestHandle/progress`` says how much was sent.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - body: A file, a sequence, a form or bytes.
    ///   - method: The method; with `put` it may be resent after it was perhaps processed, with `post` only with an
    ///     ``IdempotencyKey``.
    ///   - parameters: The first parts of a multipart form; with another body they go into the query.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - options: What this request does otherwise than the session.
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
        request(method, reference, parameters: parameters, headers: headers, body: body, options: options)
    }
}

extension HTTPSession {
    /// Makes a request of any kind, and starts it, unless the options say otherwise.
    func make<Handle: RequestHandle>(
        _ method: HTTPRequest.Method,
        _ reference: String,
        _ parameters: Parameters?,
        _ headers: HTTPFields,
        _ body: RequestBody,
        _ options: RequestOptions
    ) -> Handle {
        do throws(HTTPError) {
            let request = try prepare(method, reference, parameters, headers, body, options)
            let handle: Handle = core.handle(for: request)
            if options.startsAtOnce { handle.resume() }
            return handle
        } catch {
            return core.handle(for: .invalid(method, error))
        }
    }
}
