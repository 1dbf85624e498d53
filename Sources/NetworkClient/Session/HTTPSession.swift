import Locking
import NIOCore

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
    ///     with a slash, it gains one: `https://api.example.com/v1` and `users` make `https://api.example.com/v1/users`.
    ///   - configuration: How it behaves.
    /// - Throws: ``HTTPError`` if the base URL is none, the configuration contradicts itself, or the process has too few
    ///   descriptors left to begin with.
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
