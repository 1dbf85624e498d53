/// The rules by which redirects are followed (RFC 9110, 15.4).
///
/// | Status | Method | Body |
/// |---|---|---|
/// | 301, 302 | POST becomes GET, others are kept | dropped if the method changes, else kept |
/// | 303 | all but HEAD become GET | dropped |
/// | 307, 308 | kept | kept |
///
/// A redirect to a URL that was requested before is followed, up to the limit: the server may respond differently to a field
/// such as a cookie that it has set.
package struct RedirectRules: Sendable, Hashable {
    /// The maximum number of redirects.
    package var limit: Int
    /// Whether a redirect from https to http is followed.
    package var allowsDowngrade: Bool

    /// Creates the rules.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects.
    ///   - allowsDowngrade: Whether a redirect from https to http is followed.
    package init(limit: Int = 20, allowsDowngrade: Bool = false) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
    }

    /// Returns whether a status redirects to another URL automatically.
    package static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Returns the handling of a response.
    package func verdict(on context: RedirectContext) -> RedirectVerdict {
        guard Self.isRedirect(context.status) else { return .finalResponse }
        guard case .url(let relation) = context.target else {
            return .fail(context.target == .missing ? .locationMissing : .locationUnusable)
        }
        if context.followed >= limit { return .fail(.tooMany) }
        if relation.isDowngrade, !allowsDowngrade { return .fail(.downgrade) }
        let step = Self.step(context, relation)
        if step.keepsBody, context.body == .once { return .fail(.bodyNotReplayable) }
        return .follow(step)
    }

    private static func step(_ context: RedirectContext, _ relation: RedirectContext.Relation) -> RedirectStep {
        let becomesGet =
            switch context.status {
            case 301, 302: context.method == "POST"
            case 303: context.method != "HEAD"
            default: false
            }
        let dropsBody = becomesGet || context.status == 303
        return .init(
            method: becomesGet ? "GET" : context.method,
            keepsBody: !dropsBody && context.body != .none,
            keepsSecrets: relation.isSameOrigin
        )
    }

    /// Fields, in lower case, that are sent only to the origin for which they were set.
    package static let secretFields: Set<String> = ["authorization", "cookie", "cookie2", "proxy-authorization"]

    /// Fields, in lower case, that describe a body or its transfer, and are dropped with it (RFC 9110, 15.4).
    package static let contentFields: Set<String> = [
        "content-digest", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location", "content-md5", "content-range", "content-type", "digest", "expect", "idempotency-key",
        "last-modified", "repr-digest", "trailer", "transfer-encoding",
    ]
}

/// The properties of a response that decide about a redirect.
package struct RedirectContext: Sendable, Hashable {
    /// The status of the response.
    package var status: Int
    /// The method of the request.
    package var method: String
    /// The kind of the request's body.
    package var body: Body
    /// The target of the redirect.
    package var target: Target
    /// The number of redirects that were followed before.
    package var followed: Int

    /// Creates a context.
    package init(status: Int, method: String, body: Body = .none, target: Target, followed: Int = 0) {
        self.status = status
        self.method = method
        self.body = body
        self.target = target
        self.followed = followed
    }

    /// The kind of a request's body.
    package enum Body: Sendable, Hashable, CaseIterable {
        /// No body.
        case none
        /// A body that can be resent.
        case replayable
        /// A body that can be sent only once.
        case once
    }

    /// The target of a redirect.
    package enum Target: Sendable, Hashable {
        /// There is no `Location`, or there are several that differ.
        case missing
        /// The `Location` is not a URL that can be requested.
        case unusable
        /// A URL that can be requested.
        case url(Relation)
    }

    /// The relation of the target to the URL that was requested.
    package struct Relation: Sendable, Hashable {
        /// Whether scheme, host and port are the same.
        package var isSameOrigin: Bool
        /// Whether the redirect is from https to http.
        package var isDowngrade: Bool

        /// Creates a relation.
        package init(isSameOrigin: Bool = true, isDowngrade: Bool = false) {
            self.isSameOrigin = isSameOrigin
            self.isDowngrade = isDowngrade
        }
    }
}

/// The handling of a response that may be a redirect.
package enum RedirectVerdict: Sendable, Hashable {
    /// It is the final response.
    case finalResponse
    /// The redirect is followed.
    case follow(RedirectStep)
    /// The request has failed.
    case fail(RedirectFailure)
}

/// The changes to a request that follows a redirect.
package struct RedirectStep: Sendable, Hashable {
    /// The new method.
    package var method: String
    /// Whether the body is resent; if not, the fields that describe a body are dropped too.
    package var keepsBody: Bool
    /// Whether fields for the previous origin are kept (``RedirectRules/secretFields``).
    package var keepsSecrets: Bool

    /// Creates a step.
    package init(method: String, keepsBody: Bool, keepsSecrets: Bool) {
        self.method = method
        self.keepsBody = keepsBody
        self.keepsSecrets = keepsSecrets
    }
}

/// The reason why a redirect can't be followed.
package enum RedirectFailure: String, Sendable, Hashable, CaseIterable {
    /// The maximum number of redirects was reached.
    case tooMany
    /// There is no `Location`.
    case locationMissing
    /// The `Location` is not a URL that can be requested.
    case locationUnusable
    /// The redirect is from https to http.
    case downgrade
    /// The body must be resent, but can be read only once.
    case bodyNotReplayable
}

/// The parts of a `Location` field besides the URL itself.
package enum RedirectReference {
    /// Returns the value of a field that may occur only once; nil if there is none, or if there are several that
    /// differ.
    package static func single(_ values: [String]) -> String? {
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Returns the fragment of a redirect's target: its own, or else that of the previous URL (RFC 9110, 10.2.2).
    ///
    /// - Parameters:
    ///   - location: The value of `Location`.
    ///   - previous: The fragment of the previous URL, without `#`.
    /// - Returns: The fragment, without `#`; nil if there is none.
    package static func fragment(of location: String, after previous: String?) -> String? {
        guard let mark = location.utf8.firstIndex(of: UInt8(ascii: "#")) else { return previous }
        return String(location[location.utf8.index(after: mark)...])
    }
}
