import ReachabilityCore
import RequestGate

/// How a request waits, goes again and is led; shared by all requests of a session that do not say otherwise.
final class RequestPolicy: Sendable {
    let gate: GatePolicy
    let requirement: PathRequirement
    let retry: RetryPolicy
    let pathLoss: PathLossPolicy
    let priority: RequestPriority
    /// Whether a method that is not idempotent is made so by a key.
    let addsKeys: Bool
    /// Whether hosts that fail too often are given a rest.
    let breaks: Bool
    /// Through which proxies it goes; nil for none.
    let proxies: ProxyTable?
    /// What redirects are followed.
    let redirects: RedirectPolicy
    /// The user's interceptors; nil for none.
    let interceptors: RequestInterceptors?
    /// Whether it neither waits, nor is bound, nor goes again: nothing has to be asked.
    let isPlain: Bool

    init(
        gate: GatePolicy,
        requirement: PathRequirement,
        retry: RetryPolicy,
        pathLoss: PathLossPolicy,
        priority: RequestPriority = .normal,
        addsKeys: Bool,
        breaks: Bool,
        proxies: ProxyTable? = nil,
        redirects: RedirectPolicy,
        interceptors: RequestInterceptors?
    ) {
        self.gate = gate
        self.requirement = requirement
        self.retry = retry
        self.pathLoss = pathLoss
        self.priority = priority
        self.addsKeys = addsKeys
        self.breaks = breaks
        self.proxies = proxies
        self.redirects = redirects
        self.interceptors = interceptors
        isPlain = !gate.waits && requirement == .any && !retry.retries && !breaks
    }

    /// Whether the way to its destination is judged before it goes.
    var isGated: Bool { gate.waits || requirement != .any }
    /// Whether it waits or goes again.
    private var isScheduled: Bool { gate.waits || retry.retries || breaks }
    /// Whether another attempt may follow one that failed.
    var mayRetry: Bool { isScheduled || interceptors != nil }
    /// Whether another attempt may follow a response.
    var mayRetryResponses: Bool { retry.retries || interceptors != nil }

    /// For how long it may wait for a path.
    ///
    /// What has a requirement and was not to wait still waits until it is known what ways there are.
    func waitTimeout(for wait: GateWait?) -> Duration? {
        switch gate {
        case .waitsForConnectivity(let waitTimeout): waitTimeout
        case .startsImmediately where wait?.isUndecided == true: .seconds(10)
        case .startsImmediately: .zero
        }
    }

    /// The policy of a session's requests.
    convenience init(_ configuration: HTTPConfiguration) {
        self.init(
            gate: configuration.gate,
            requirement: configuration.requirement,
            retry: configuration.retry,
            pathLoss: configuration.pathLoss,
            addsKeys: configuration.addsIdempotencyKeys,
            breaks: configuration.circuitBreaker != nil,
            proxies: configuration.goesByProxies ? ProxyTable(configuration.proxy, .current) : nil,
            redirects: configuration.redirects,
            interceptors: .init(session: configuration.interceptors, own: [])
        )
    }

    /// The policy of one request: the session's, where the request does not say otherwise.
    func with(_ options: RequestOptions, binding: LocalBinding) throws(HTTPError) -> RequestPolicy {
        let gate = options.gate ?? self.gate
        var requirement = options.requirement ?? self.requirement
        if binding != .unbound, gate.waits || requirement != .any {
            requirement = try Self.requirement(requirement, with: binding)
        }
        if options.saysNothingOfItsWay, requirement == self.requirement { return self }
        return .init(
            gate: gate,
            requirement: requirement,
            retry: options.retry ?? retry,
            pathLoss: options.pathLoss ?? pathLoss,
            priority: options.priority,
            addsKeys: addsKeys,
            breaks: breaks,
            proxies: options.proxy.map { ProxyTable($0, .current) } ?? proxies,
            redirects: options.redirects ?? redirects,
            interceptors: interceptors(with: options)
        )
    }

    private func interceptors(with options: RequestOptions) -> RequestInterceptors? {
        guard !options.interceptors.isEmpty else { return interceptors }
        return interceptors?.with(options.interceptors) ?? .init(session: [], own: options.interceptors)
    }

    /// What is bound to an interface waits for that one.
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
                    say one of both
                    """
            )
        }
    }
}

extension RequestOptions {
    /// Whether a request waits, goes again and follows as its session says.
    fileprivate var saysNothingOfItsWay: Bool {
        gate == nil && requirement == nil && retry == nil && pathLoss == nil && priority == .normal && redirects == nil
            && proxy == nil && interceptors.isEmpty
    }
}

extension HTTPConfiguration {
    /// Whether there may be proxies: not where requests go otherwise than by TCP.
    fileprivate var goesByProxies: Bool { unixSocketPath == nil && transport == nil }
}
