/// How a request uses a cache.
package enum CacheMode: Sendable, Hashable {
    /// By the rules of HTTP.
    case standard
    /// By the rules of HTTP; but if the server can't be reached or fails, a stale response is used.
    case staleIfUnreachable
    /// A stored response is used, whatever its age; the network if there is none.
    case storedFirst
    /// A stored response is used, whatever its age, and never the network.
    case storedOnly
    /// The network is used, and its response stored.
    case ignoring
    /// A stored response is used only after validation.
    case validating
}

/// The permission by which a stale response is used.
package enum StalePermission: Sendable, Hashable {
    /// The request accepts stale responses (`max-stale`).
    case request
    /// Its policy does.
    case policy
    /// The response may be used while it is validated in the background (`stale-while-revalidate`).
    case whileRevalidating
}

/// A decision of a cache about a request.
package enum CacheDecision: Sendable, Hashable {
    /// Use the stored response, which is fresh.
    case fresh
    /// Use the stored response, although it is stale.
    case stale(StalePermission)
    /// Send the request, with the validators of the stored response if there is one.
    case forward
    /// Send the request as it is: the stored response can't be used at all.
    case bypass
    /// Use no network, and report that there is no stored response (504; RFC 9111, 5.2.1.7).
    case unavailable
}

/// The rules for using stored responses (RFC 9111, 4; RFC 5861).
package enum ReuseRules {
    /// Decides how a request is satisfied.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - stored: The stored response that matches it; nil for none.
    ///   - mode: The policy of the request.
    ///   - now: The time in seconds since 1970.
    /// - Returns: The decision.
    package static func decision(
        for request: CacheRequest,
        _ stored: CachedResponse?,
        _ mode: CacheMode,
        now: Int64
    ) -> CacheDecision {
        switch mode {
        case .storedOnly: return stored.map { use($0, .policy, now) } ?? .unavailable
        case .ignoring: return .bypass
        case .storedFirst: if let stored { return use(stored, .policy, now) }
        case .standard, .staleIfUnreachable, .validating: break
        }
        let directives = request.directives
        if let stored, mode != .validating, let decision = reuse(stored, directives, now) { return decision }
        return directives.onlyIfCached ? .unavailable : .forward
    }

    private static func use(_ stored: CachedResponse, _ permission: StalePermission, _ now: Int64) -> CacheDecision {
        stored.staleness(at: now) == nil ? .fresh : .stale(permission)
    }

    /// Returns the decision to use a stored response; nil if it has to be validated.
    private static func reuse(_ stored: CachedResponse, _ request: CacheDirectives, _ now: Int64) -> CacheDecision? {
        let response = stored.directives
        guard !request.noCache, !response.noCache, !request.hasInvalidMaxAge else { return nil }
        if let maxAge = request.maxAge, stored.age(at: now) > maxAge { return nil }
        guard let staleness = stored.staleness(at: now) else {
            let rest = stored.lifetime.seconds - stored.age(at: now)
            return rest < request.minFresh ?? 0 ? nil : .fresh
        }
        guard !response.mustRevalidate, request.minFresh == nil else { return nil }
        if let accepted = request.maxStale, staleness <= accepted { return .stale(.request) }
        guard request.maxAge == nil else { return nil }
        if let window = response.staleWhileRevalidate, staleness <= window { return .stale(.whileRevalidating) }
        return nil
    }

    /// Returns whether a stored response may be used because the server can't be reached or has failed.
    ///
    /// Never if the server requires validation (`no-cache`, `must-revalidate`; RFC 9111, 4.2.4).
    package static func mayReplaceFailure(
        _ stored: CachedResponse,
        of request: CacheRequest,
        _ mode: CacheMode,
        now: Int64
    ) -> Bool {
        let (asked, given) = (request.directives, stored.directives)
        guard mode == .standard || mode == .staleIfUnreachable else { return false }
        guard !given.noCache, !given.mustRevalidate else { return false }
        let staleness = stored.staleness(at: now) ?? 0
        let windows = [given.staleIfError, asked.staleIfError, asked.noCache ? nil : asked.maxStale]
        return mode == .staleIfUnreachable || windows.contains { $0.map { staleness <= $0 } ?? false }
    }
}
