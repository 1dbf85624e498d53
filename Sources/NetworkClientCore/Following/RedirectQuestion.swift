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
