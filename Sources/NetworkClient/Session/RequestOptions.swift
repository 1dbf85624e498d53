public import ReachabilityCore

/// What one request does otherwise than its session.
public struct RequestOptions: Sendable {
    /// Its limits; nil for the session's.
    public var timeouts: Timeouts?
    /// What its connection is bound to; nil for the session's.
    public var binding: LocalBinding?
    /// The size of its answer's body at most, decompressed, in bytes; nil for the session's.
    public var maximumBodySize: Int?
    /// Whether it asks for leave before it sends its body (`Expect: 100-continue`; RFC 9110, 10.1.1).
    public var expectsContinue: Bool
    /// Whether it starts at once; if not, with ``RequestHandle/resume()``.
    public var startsAtOnce: Bool

    /// Whether it waits for a path; nil for as the session says.
    public var gate: GatePolicy?
    /// What its path must be; nil for as the session says.
    public var requirement: PathRequirement?
    /// How often it goes again; nil for as the session says.
    public var retry: RetryPolicy?
    /// What becomes of it if its path goes away while it is under way; nil for as the session says.
    public var pathLoss: PathLossPolicy?
    /// How urgent it is among those that wait.
    public var priority: RequestPriority
    /// Makes it idempotent by a key, if its server knows those.
    public var idempotencyKey: IdempotencyKey?
    /// Through which proxy it goes; nil for as the session says.
    public var proxy: ProxyConfiguration?
    /// What redirects it follows; nil for as the session says.
    public var redirects: RedirectPolicy?
    /// As whom it appears at its URL's origin, if it is asked; nil for as the URL or the session says.
    public var credential: Credential?
    /// Whether it appears as anybody at all; if not, a 401 is its answer.
    public var authenticates: Bool
    /// The interceptors of this request: they change it before each attempt, after those of the session, and decide on
    /// attempts that failed, before those of the session.
    public var interceptors: [any RequestInterceptor]

    /// Where its answer's body goes.
    var destination = ResponseDestination.memory

    /// Makes options.
    public init(
        timeouts: Timeouts? = nil,
        binding: LocalBinding? = nil,
        maximumBodySize: Int? = nil,
        expectsContinue: Bool = false,
        startsAtOnce: Bool = true,
        gate: GatePolicy? = nil,
        requirement: PathRequirement? = nil,
        retry: RetryPolicy? = nil,
        pathLoss: PathLossPolicy? = nil,
        priority: RequestPriority = .normal,
        idempotencyKey: IdempotencyKey? = nil,
        proxy: ProxyConfiguration? = nil,
        redirects: RedirectPolicy? = nil,
        credential: Credential? = nil,
        authenticates: Bool = true,
        interceptors: [any RequestInterceptor] = []
    ) {
        self.timeouts = timeouts
        self.binding = binding
        self.maximumBodySize = maximumBodySize
        self.expectsContinue = expectsContinue
        self.startsAtOnce = startsAtOnce
        self.gate = gate
        self.requirement = requirement
        self.retry = retry
        self.pathLoss = pathLoss
        self.priority = priority
        self.idempotencyKey = idempotencyKey
        self.proxy = proxy
        self.redirects = redirects
        self.credential = credential
        self.authenticates = authenticates
        self.interceptors = interceptors
    }
}

/// What tells a server that a request is one it has seen before (the field `Idempotency-Key`).
///
/// It is made once, and stays the same over all attempts.
public enum IdempotencyKey: Sendable, Hashable {
    /// A random one, of 128 bits.
    case random
    /// One of the user's own: what a field can carry, or the request fails with
    /// ``HTTPError/Code/invalidConfiguration``.
    case custom(String)

    /// What is sent.
    ///
    /// - Throws: `invalidConfiguration` for what no field can carry: a line end in it would begin another field.
    func checkedText() throws(HTTPError) -> String {
        let text = text
        guard !text.isEmpty, HTTPField.isValidValue(text) else {
            let reason =
                """
                \(text.debugDescription) is no idempotency key: it has to have a character at least, no control \
                characters, and no space at either end
                """
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        return text
    }

    /// What is sent, unchecked.
    var text: String {
        switch self {
        case .custom(let text): text
        case .random: RandomToken.hexadecimal
        }
    }
}
