import ReachabilityCore
import RequestGate

/// The policies of a request; shared by all requests of a session whose options don't change them.
final class RequestPolicy: Sendable {
    let gate: GatePolicy
    let requirement: PathRequirement
    /// Whether the path must be validated.
    let needsValidation: Bool
    let retry: RetryPolicy
    let pathLoss: PathLossPolicy
    let priority: RequestPriority
    /// Whether requests with a method that is not idempotent get an idempotency key.
    let addsKeys: Bool
    /// Whether the session has circuit breakers.
    let breaks: Bool
    /// The proxies; nil for none.
    let proxies: ProxyTable?
    /// The redirects that are followed.
    let redirects: RedirectPolicy
    /// The user's interceptors; nil for none.
    let interceptors: RequestInterceptors?
    /// The acceptable responses, and the decoder of JSON.
    let responseSerializer: ResponseSerializerSettings
    /// Whether cookies are sent and stored.
    let handlesCookies: Bool
    /// Whether requests have a requirement on their path.
    let isRestricted: Bool
    /// Whether requests neither wait, nor have a requirement, nor are retried: they need no dispatcher.
    let isPlain: Bool

    init(
        gate: GatePolicy,
        requirement: PathRequirement,
        needsValidation: Bool,
        retry: RetryPolicy,
        pathLoss: PathLossPolicy,
        priority: RequestPriority = .normal,
        addsKeys: Bool,
        breaks: Bool,
        proxies: ProxyTable? = nil,
        redirects: RedirectPolicy,
        interceptors: RequestInterceptors?,
        responseSerializer: ResponseSerializerSettings,
        handlesCookies: Bool = true
    ) {
        self.gate = gate
        self.requirement = requirement
        self.needsValidation = needsValidation
        self.retry = retry
        self.pathLoss = pathLoss
        self.priority = priority
        self.addsKeys = addsKeys
        self.breaks = breaks
        self.proxies = proxies
        self.redirects = redirects
        self.interceptors = interceptors
        self.responseSerializer = responseSerializer
        self.handlesCookies = handlesCookies
        isRestricted = requirement != .any || needsValidation
        isPlain = !gate.waits && !isRestricted && !retry.retries && !breaks
    }

    /// Whether the path to the destination is checked before the request is sent.
    var isGated: Bool { gate.waits || isRestricted }
    /// Whether requests may wait or be retried.
    private var isScheduled: Bool { gate.waits || retry.retries || breaks }
    /// Whether another attempt may follow a failed one.
    var mayRetry: Bool { isScheduled || interceptors != nil }
    /// Whether another attempt may follow a response.
    var mayRetryResponses: Bool { retry.retries || interceptors != nil }

    /// Returns the maximum time to wait for a path; nil for no limit.
    ///
    /// A request with a requirement that should start immediately still waits until the paths are known.
    func waitTimeout(for wait: GateWait?, _ limits: FixedLimits) -> Duration? {
        switch gate {
        case .waitsForConnectivity(let waitTimeout): waitTimeout
        case .startsImmediately where wait?.isUndecided == true: limits.firstState
        case .startsImmediately: .zero
        }
    }

    /// Creates the policy of a session.
    convenience init(_ configuration: HTTPConfiguration) {
        self.init(
            gate: configuration.gate,
            requirement: configuration.requirement,
            needsValidation: configuration.validationRequirement == .validated,
            retry: configuration.retry,
            pathLoss: configuration.pathLoss,
            addsKeys: configuration.addsIdempotencyKeys,
            breaks: configuration.circuitBreaker != nil,
            proxies: configuration.canUseProxies ? ProxyTable(configuration.proxy, .current) : nil,
            redirects: configuration.redirects,
            interceptors: .init(session: configuration.interceptors, own: []),
            responseSerializer: configuration.responseSerializer
        )
    }

    /// Returns the policy of one request: the session's, with the changes in the options.
    func with(_ options: RequestOptions, binding: LocalBinding) throws(HTTPError) -> RequestPolicy {
        let gate = options.gate ?? self.gate
        var requirement = options.requirement ?? self.requirement
        if binding != .unbound, gate.waits || requirement != .any {
            requirement = try Self.requirement(requirement, with: binding)
        }
        if options.usesSessionPolicy, requirement == self.requirement { return self }
        return .init(
            gate: gate,
            requirement: requirement,
            needsValidation: options.validationRequirement.map { $0 == .validated } ?? needsValidation,
            retry: options.retry ?? retry,
            pathLoss: options.pathLoss ?? pathLoss,
            priority: options.priority,
            addsKeys: addsKeys,
            breaks: breaks,
            proxies: options.proxy.map { ProxyTable($0, .current) } ?? proxies,
            redirects: options.redirects ?? redirects,
            interceptors: interceptors(with: options),
            responseSerializer: options.responseSerializer ?? responseSerializer,
            handlesCookies: options.handlesCookies
        )
    }

    /// Throws an error if the path must be validated, and nothing validates it.
    func check(_ validation: (any PathValidation)?) throws(HTTPError) {
        guard needsValidation, validation == nil else { return }
        let reason =
            "a request can't require a validated path in a session whose configuration has no 'validation': set it"
        throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
    }

    private func interceptors(with options: RequestOptions) -> RequestInterceptors? {
        guard !options.interceptors.isEmpty else { return interceptors }
        return interceptors?.with(options.interceptors) ?? .init(session: [], own: options.interceptors)
    }

    /// Returns the requirement that includes a binding: a request that is bound to an interface waits for that one.
    private static func requirement(
        _ requirement: PathRequirement,
        with binding: LocalBinding
    ) throws(HTTPError) -> PathRequirement {
        switch (binding, requirement) {
        case (.unbound, _), (.interfaceIndex, .any), (.address, .any): requirement
        case (.interface(let name), .any): .interface(name)
        case (.interface(let name), .interface(let other)) where name == other: requirement
        default:
            throw .init(
                .invalidConfiguration,
                processing: .neverSent,
                reason: """
                    a request can't be bound (\(binding)) and have a requirement (\(requirement)), which binds it by itself: \
                    set only one of them
                    """
            )
        }
    }
}

extension RequestOptions {
    /// Whether the session's policy applies unchanged.
    fileprivate var usesSessionPolicy: Bool {
        gate == nil && requirement == nil && validationRequirement == nil && retry == nil && pathLoss == nil
            && priority == .normal && redirects == nil
            && proxy == nil && interceptors.isEmpty && responseSerializer == nil && handlesCookies
    }
}

extension HTTPConfiguration {
    /// Whether proxies can be used: only with TCP.
    fileprivate var canUseProxies: Bool { unixSocketPath == nil && transport == nil }
}
