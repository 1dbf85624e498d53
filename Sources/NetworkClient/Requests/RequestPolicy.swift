import ReachabilityCore
import RequestGate

/// How a request waits and goes again; shared by all requests of a session that do not say otherwise.
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
    /// Whether it neither waits, nor is bound, nor goes again: nothing has to be asked.
    let isPlain: Bool

    init(
        gate: GatePolicy,
        requirement: PathRequirement,
        retry: RetryPolicy,
        pathLoss: PathLossPolicy,
        priority: RequestPriority = .normal,
        addsKeys: Bool,
        breaks: Bool
    ) {
        self.gate = gate
        self.requirement = requirement
        self.retry = retry
        self.pathLoss = pathLoss
        self.priority = priority
        self.addsKeys = addsKeys
        self.breaks = breaks
        isPlain = !gate.waits && requirement == .any && !retry.retries && !breaks
    }

    /// Whether the way to its destination is judged before it goes.
    var isGated: Bool { gate.waits || requirement != .any }
    /// Whether it waits or goes again.
    var isScheduled: Bool { gate.waits || retry.retries || breaks }

    /// For how long it may wait for a path.
    ///
    /// What has a requirement and was not to wait still waits until it is known what ways there are.
    func patience(for wait: GateWait?) -> Duration? {
        switch gate {
        case .waitsForConnectivity(let patience): patience
        case .none where wait?.isUndecided == true: .seconds(10)
        case .none: .zero
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
            breaks: configuration.circuitBreaker != nil
        )
    }

    /// The policy of one request: the session's, where the request does not say otherwise.
    func with(_ options: RequestOptions, binding: LocalBinding) throws(HTTPError) -> RequestPolicy {
        let gate = options.gate ?? self.gate
        var requirement = options.requirement ?? self.requirement
        if binding != .none, gate.waits || requirement != .any {
            requirement = try Self.requirement(requirement, with: binding)
        }
        if options.saysNothingOfWaiting, requirement == self.requirement { return self }
        return .init(
            gate: gate,
            requirement: requirement,
            retry: options.retry ?? retry,
            pathLoss: options.pathLoss ?? pathLoss,
            priority: options.priority,
            addsKeys: addsKeys,
            breaks: breaks
        )
    }

    /// What is bound to an interface waits for that one.
    private static func requirement(
        _ requirement: PathRequirement,
        with binding: LocalBinding
    ) throws(HTTPError) -> PathRequirement {
        switch (binding, requirement) {
        case (.none, _), (.interfaceIndex, .any), (.address, .any): requirement
        case (.interface(let name), .any): .interface(name)
        case (.interface(let name), .interface(let other)) where name == other: requirement
        default:
            throw .init(
                .invalidConfiguration,
                .neverSent,
                """
                a request can't be bound (\(binding)) and have a requirement (\(requirement)), which binds it by itself: \
                say one of both
                """
            )
        }
    }
}

extension RequestOptions {
    /// Whether a request waits and goes again as its session says.
    fileprivate var saysNothingOfWaiting: Bool {
        gate == nil && requirement == nil && retry == nil && pathLoss == nil && priority == .normal
    }
}
