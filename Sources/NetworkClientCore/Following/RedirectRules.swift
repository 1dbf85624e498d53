/// How redirects are followed (RFC 9110, 15.4).
///
/// | Status | Method | Body |
/// |---|---|---|
/// | 301, 302 | POST becomes GET, others stay | dropped with POST's, else kept |
/// | 303 | all but HEAD become GET | dropped |
/// | 307, 308 | stays | kept |
public struct RedirectRules: Sendable, Hashable {
    /// How many redirects are followed at most.
    public var limit: Int
    /// Whether they may lead from https to http.
    public var allowsDowngrade: Bool

    /// Sets the rules.
    ///
    /// - Parameters:
    ///   - limit: How many redirects are followed at most.
    ///   - allowsDowngrade: Whether they may lead from https to http.
    public init(limit: Int = 20, allowsDowngrade: Bool = false) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
    }

    /// Whether answers with a status lead elsewhere by themselves.
    public static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// What becomes of an answer.
    public func verdict(on question: RedirectQuestion) -> RedirectVerdict {
        guard Self.isRedirect(question.status) else { return .answer }
        guard case .url(let relation) = question.target else {
            return .fail(question.target == .missing ? .locationMissing : .locationUnusable)
        }
        if question.followed >= limit { return .fail(.tooMany) }
        if relation.isDowngrade, !allowsDowngrade { return .fail(.downgrade) }
        let step = Self.step(question, relation)
        if relation.asked.contains(step.method) { return .fail(.cycle) }
        if step.keepsBody, question.body == .once { return .fail(.bodyGone) }
        return .follow(step)
    }

    private static func step(_ question: RedirectQuestion, _ relation: RedirectQuestion.Relation) -> RedirectStep {
        let becomesGet =
            switch question.status {
            case 301, 302: question.method == "POST"
            case 303: question.method != "HEAD"
            default: false
            }
        let dropsBody = becomesGet || question.status == 303
        return .init(
            method: becomesGet ? "GET" : question.method,
            keepsBody: !dropsBody && question.body != .none,
            keepsSecrets: relation.isSameOrigin
        )
    }

    /// Fields in lower case that only the origin may see for which they were meant.
    public static let secretFields: Set<String> = ["authorization", "cookie", "cookie2", "proxy-authorization"]

    /// Fields in lower case that describe a body, or how it is sent, and go with it (RFC 9110, 15.4).
    public static let contentFields: Set<String> = [
        "content-digest", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location", "content-md5", "content-range", "content-type", "digest", "expect", "idempotency-key",
        "last-modified", "repr-digest", "trailer", "transfer-encoding",
    ]
}

/// An answer that may lead elsewhere, as the rules see it.
public struct RedirectQuestion: Sendable, Hashable {
    /// The answer's status.
    public var status: Int
    /// The method of the request that it answers.
    public var method: String
    /// What that request carried.
    public var body: Body
    /// Where the answer leads.
    public var target: Target
    /// How many redirects were followed before.
    public var followed: Int

    /// Sets each part.
    public init(status: Int, method: String, body: Body = .none, target: Target, followed: Int = 0) {
        self.status = status
        self.method = method
        self.body = body
        self.target = target
        self.followed = followed
    }

    /// What a request carried.
    public enum Body: Sendable, Hashable, CaseIterable {
        /// Nothing.
        case none
        /// What can be sent again.
        case replayable
        /// What can be sent once.
        case once
    }

    /// Where an answer leads.
    public enum Target: Sendable, Hashable {
        /// It has no `Location`, or more than one that differ.
        case missing
        /// Its `Location` is no URL that can be asked.
        case unusable
        /// A URL that can be asked.
        case url(Relation)
    }

    /// What a URL is to the one that was asked.
    public struct Relation: Sendable, Hashable {
        /// Whether scheme, host and port are the same.
        public var isSameOrigin: Bool
        /// Whether it leads from https to http.
        public var isDowngrade: Bool
        /// The methods with which it was asked before on this way.
        public var asked: Set<String>

        /// Sets each part.
        public init(isSameOrigin: Bool = true, isDowngrade: Bool = false, asked: Set<String> = []) {
            self.isSameOrigin = isSameOrigin
            self.isDowngrade = isDowngrade
            self.asked = asked
        }
    }
}

/// What becomes of an answer that may lead elsewhere.
public enum RedirectVerdict: Sendable, Hashable {
    /// It is the request's answer.
    case answer
    /// The request goes on.
    case follow(RedirectStep)
    /// The request has failed.
    case fail(RedirectFailure)
}

/// How a request goes on.
public struct RedirectStep: Sendable, Hashable {
    /// Its method from now on.
    public var method: String
    /// Whether it carries its body again; if not, the fields that describe one are dropped too.
    public var keepsBody: Bool
    /// Whether it keeps what only the origin asked before may know (``RedirectRules/secretFields``).
    public var keepsSecrets: Bool

    /// Sets each part.
    public init(method: String, keepsBody: Bool, keepsSecrets: Bool) {
        self.method = method
        self.keepsBody = keepsBody
        self.keepsSecrets = keepsSecrets
    }
}

/// Why a redirect can't be followed.
public enum RedirectFailure: String, Sendable, Hashable, CaseIterable {
    /// There were as many as the limit allows.
    case tooMany
    /// It leads to where the request has been before, with the same method.
    case cycle
    /// It does not say where.
    case locationMissing
    /// What it says is no URL that can be asked.
    case locationUnusable
    /// It leads from https to http.
    case downgrade
    /// The body is wanted again, and can't be sent again.
    case bodyGone
}

/// What a `Location` says, beside the URL itself.
public enum RedirectReference {
    /// The one value of a field that must not be there twice; nil if there is none, or there are several that differ.
    public static func single(_ values: [String]) -> String? {
        guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// The fragment of where a redirect leads: its own, else that of the URL that was asked (RFC 9110, 10.2.2).
    ///
    /// - Parameters:
    ///   - location: What the answer says.
    ///   - previous: The fragment of the URL that was asked, without `#`.
    /// - Returns: The fragment, without `#`; nil if there is none.
    public static func fragment(of location: String, after previous: String?) -> String? {
        guard let mark = location.utf8.firstIndex(of: UInt8(ascii: "#")) else { return previous }
        return String(location[location.utf8.index(after: mark)...])
    }
}
