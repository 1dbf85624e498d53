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
