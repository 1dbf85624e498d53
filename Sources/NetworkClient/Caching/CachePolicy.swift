public import HTTPTypes
import NetworkClientCore

/// How a request uses the cache of its session; the names are those of Foundation's `URLRequest.CachePolicy`.
public enum CachePolicy: Sendable, Hashable, CaseIterable {
    /// Stored responses are used by the rules of HTTP (RFC 9111, RFC 5861); the default.
    case useProtocol
    /// As ``useProtocol``; but if there is no path, or the server can't be reached or fails (500, 502, 503 or 504), a stale
    /// response is better than none.
    ///
    /// A response that the server wants to have validated (`no-cache`, `must-revalidate`) is not used then.
    case useProtocolElseStale
    /// A stored response is used, whatever its age; the network only if there is none.
    case returnCacheElseLoad
    /// A stored response is used, whatever its age, and the network never: without one, the request fails with
    /// ``HTTPError/Code/notCached``.
    case returnCacheDontLoad
    /// Stored responses are not used; the response is stored.
    case reloadIgnoringLocalCache
    /// As ``reloadIgnoringLocalCache``, and caches on the path are asked to do the same (`Cache-Control: no-cache`).
    case reloadIgnoringAllCaches
    /// A stored response is used only after the server has validated it.
    case reloadRevalidating

    /// The rules for the policy.
    var mode: CacheMode {
        switch self {
        case .useProtocol: .standard
        case .useProtocolElseStale: .staleIfUnreachable
        case .returnCacheElseLoad: .storedFirst
        case .returnCacheDontLoad: .storedOnly
        case .reloadIgnoringLocalCache, .reloadIgnoringAllCaches: .ignoring
        case .reloadRevalidating: .validating
        }
    }
}

/// Where a response comes from.
public enum ResponseSource: Sendable, Hashable {
    /// From the server.
    case network
    /// From the cache: it is fresh.
    case cache
    /// From the cache, after the server has confirmed that it is current (304).
    case validated
    /// From the cache, although it is stale.
    case stale(StaleReason)
}

/// The reason why a stale response is used.
public enum StaleReason: Sendable, Hashable {
    /// The request accepts stale responses (`Cache-Control: max-stale`).
    case accepted
    /// The policy of the request does: ``CachePolicy/returnCacheElseLoad`` or ``CachePolicy/returnCacheDontLoad``.
    case policy
    /// The response permits it for a while, during which it is validated in the background (`stale-while-revalidate`; RFC
    /// 5861, 3).
    case revalidating
    /// The server responded with this status, an error (`stale-if-error`; RFC 5861, 4).
    case serverFailed(status: Int)
    /// The server could not be reached.
    case unreachable
    /// There is no path to the server.
    case noPath
}

/// Decides about the storing of a response, from the heads of the request and of the response.
///
/// It returns the head to store, whose fields it may have changed, or nil to store nothing.
public typealias WillCache = @Sendable (HTTPRequest, HTTPResponse) -> HTTPResponse?

/// The part of a response that came from a cache; an object, since most responses have none.
final class CacheOrigin: Sendable {
    let source: ResponseSource
    /// Seconds.
    let age: Int64
    let isEstimated: Bool

    init(source: ResponseSource, age: Int64, isEstimated: Bool) {
        (self.source, self.age, self.isEstimated) = (source, age, isEstimated)
    }
}
