/// A request, as a cache sees it.
package struct CacheRequest: Sendable, Hashable {
    package var method: String
    package var fields: CachedFields

    package init(method: String, fields: CachedFields) { (self.method, self.fields) = (method, fields) }

    /// The directives of `Cache-Control`, or those that `Pragma` stands for where there is none (RFC 9111, 5.4).
    package var directives: CacheDirectives {
        guard !fields.contains("Cache-Control"), fields.list(of: "Pragma").contains("no-cache") else {
            return .init(fields.values(of: "Cache-Control"))
        }
        return .init(["no-cache"])
    }

    /// Whether its response may come from a cache: it has no condition that only the origin can evaluate (RFC 9111, 4.3.2).
    package var mayUseStored: Bool {
        guard method == "GET" || method == "HEAD" else { return false }
        return !fields.contains("If-Match") && !fields.contains("If-Unmodified-Since")
            && (fields.contains("Range") || !fields.contains("If-Range"))
    }

    /// Whether it has a condition or a range of its own, so that a cache adds none.
    package var isConditional: Bool {
        ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range"]
            .contains { fields.contains($0) }
    }

    /// Whether its method may change a resource (RFC 9110, 9.2.1), so that stored responses are invalidated (RFC 9111, 4.4).
    package var isUnsafe: Bool { !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }
}

/// The reason why a response is not stored.
package enum CacheRefusal: Sendable, Hashable {
    case method, status, noStore, partial, authorization, notCacheable, variesOnEverything, stream
}

/// The rules for storing responses (RFC 9111, 3).
package enum StoringRules {
    /// Returns the reason why a private cache must not store a response; nil if it may.
    package static func refusal(of response: CachedResponse, to request: CacheRequest) -> CacheRefusal? {
        let directives = response.directives
        if request.method != "GET" { return .method }
        if response.status == 206 || response.fields.contains("Content-Range") { return .partial }
        if let refusal = refusal(ofStatus: response.status, directives) { return refusal }
        if request.directives.noStore { return .noStore }
        if request.fields.contains("Authorization"), !directives.allowsAuthorized { return .authorization }
        if response.fields.list(of: "Vary").contains("*") { return .variesOnEverything }
        if response.isEventStream { return .stream }
        return isPermitted(response, directives) ? nil : .notCacheable
    }

    private static func refusal(ofStatus status: Int, _ directives: CacheDirectives) -> CacheRefusal? {
        // Responses that concern the exchange of messages, and not the resource.
        if status < 200 || [304, 401, 407, 412, 416, 417, 421].contains(status) { return .status }
        if directives.mustUnderstand { return CacheStatus.isUnderstood(status) ? nil : .status }
        return directives.noStore ? .noStore : nil
    }

    private static func isPermitted(_ response: CachedResponse, _ directives: CacheDirectives) -> Bool {
        directives.isPublic || directives.isPrivate || directives.maxAge != nil || response.fields.contains("Expires")
            || CacheStatus.isHeuristicallyCacheable(response.status)
    }
}

extension CacheDirectives {
    /// Whether a response to a request with `Authorization` may be stored (RFC 9111, 3.5).
    ///
    /// The rule is that for shared caches, which never store what is private: one session may send the credentials of several
    /// users. An `s-maxage` of 0 permits only what is validated each time, which the lifetime in a private cache is not.
    fileprivate var allowsAuthorized: Bool { !isPrivate && (isPublic || mustRevalidate || sharedMaxAge ?? 0 > 0) }
}

extension CachedResponse {
    /// Whether it has no end.
    fileprivate var isEventStream: Bool {
        fields.values(of: "Content-Type").contains { $0.lowercased().hasPrefix("text/event-stream") }
    }
}

/// The fields of requests on which a response depends (RFC 9111, 4.1).
package enum VaryRules {
    /// Returns the names in `Vary`, in lower case and sorted; empty if the response depends on none.
    ///
    /// A private response is for one user (RFC 9111, 5.2.2.7), whom the cookies identify: it also depends on these.
    package static func names(of response: CachedResponse) -> [String] {
        Set(response.fields.list(of: "Vary") + (response.directives.isPrivate ? ["cookie"] : [])).sorted()
    }

    /// Returns a text that is equal for two requests if their fields with these names match.
    ///
    /// Lines are combined, and white space at the commas is removed, as the grammar of lists allows.
    package static func key(_ names: [String], of fields: CachedFields) -> String {
        names.map { name in
            let values = fields.values(of: name)
            let elements = values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            let value = values.isEmpty ? "-" : "+" + elements.map(\.trimmingBlanks).joined(separator: ",")
            return "\(name)=\(value.utf8.count):\(value)"
        }.joined(separator: "\n")
    }
}
