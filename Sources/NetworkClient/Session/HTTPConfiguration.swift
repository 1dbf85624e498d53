import Glibc
import NetworkClientCore
public import ReachabilityCore

/// How a session behaves.
public struct HTTPConfiguration: Sendable {
    /// Fields that every request has, unless it says otherwise itself.
    public var headers: HTTPFields
    /// How long each stage of a request may take.
    public var timeouts: Timeouts
    /// Whom to trust over TLS, and as whom to appear.
    public var tls: TLSOptions
    /// How parameters are put into requests.
    public var requestSerializer: any RequestSerializer
    /// How many connections there may be to one endpoint at once; further requests wait.
    public var maximumConnectionsPerHost: Int
    /// How long an unused connection is kept; nil for as long as the server keeps it.
    public var idleTimeout: Duration?
    /// The size of an answer's body at most, decompressed, in bytes; in memory no more than 4 GiB less one byte.
    public var maximumBodySize: Int
    /// The size of an answer's head at most, in bytes: its status line and all fields, with the interim answers before it;
    /// the same again for its trailers.
    public var maximumHeadSize: Int
    /// Whether answers may come compressed (`Accept-Encoding`); they are decompressed as they come.
    public var decompresses: Bool
    /// What connections are bound to, unless a request says otherwise.
    public var binding: LocalBinding
    /// The path of a Unix socket on which all requests are sent, whatever their URL's host; nil for the network.
    public var unixSocketPath: String?
    /// Through which proxies requests go; as the environment says, unless told otherwise.
    public var proxy: ProxyConfiguration
    /// Who follows all requests.
    public var eventMonitors: [any EventMonitor]
    /// What carries requests in place of the session's own connections; nil for these.
    public var transport: (any Transport)?

    /// Whether requests wait until there is a path to their destination.
    public var gate: GatePolicy
    /// What paths must be; every requirement but `any` binds connections to an interface that meets it.
    public var requirement: PathRequirement
    /// How often requests go again that failed, and when.
    public var retry: RetryPolicy
    /// What becomes of a request whose path goes away while it is under way; of those that wait for a path.
    public var pathLoss: PathLossPolicy
    /// Whether requests whose method is not idempotent are given a random `Idempotency-Key`, if they have none.
    public var addsIdempotencyKeys: Bool
    /// When hosts that fail too often are given a rest; nil for never.
    public var circuitBreaker: CircuitBreakerPolicy?
    /// The interceptors of all requests: they change a request before each attempt, in their order, and decide on attempts
    /// that failed, after those of the request.
    public var interceptors: [any RequestInterceptor]
    /// Knows the ways out of this machine; nil for `ReachabilityMonitor.shared`, which is started if a request waits or
    /// has a requirement.
    public var connectivity: (any Connectivity)?

    /// What redirects are followed.
    public var redirects: RedirectPolicy
    /// As whom requests appear, to whom.
    public var authentication: AuthenticationPolicy

    /// Makes the stages of a session that come before the client's own; called once.
    package var makeStages: @Sendable () -> [any ExchangeStage] = { [] }
    /// Makes connections in place of the client's own; nil for these.
    package var makeConnection: ConnectionMaker?

    /// Whether requests may go over mobile networks: false makes ``requirement`` `notCellular`.
    public var allowsCellularAccess: Bool {
        get { requirement != .notCellular && requirement != .notExpensive && requirement != .wifi }
        set {
            if newValue != allowsCellularAccess { requirement = newValue ? .any : .notCellular }
        }
    }

    /// Makes a configuration.
    public init(
        headers: HTTPFields = [:],
        timeouts: Timeouts = .init(),
        tls: TLSOptions = .init(),
        requestSerializer: any RequestSerializer = FormSerializer(),
        maximumConnectionsPerHost: Int = 6,
        idleTimeout: Duration? = .seconds(60),
        maximumBodySize: Int = 64 << 20,
        maximumHeadSize: Int = 256 << 10,
        decompresses: Bool = true,
        binding: LocalBinding = .unbound,
        unixSocketPath: String? = nil,
        proxy: ProxyConfiguration = .environment,
        eventMonitors: [any EventMonitor] = [],
        transport: (any Transport)? = nil,
        gate: GatePolicy = .startsImmediately,
        requirement: PathRequirement = .any,
        retry: RetryPolicy = .never,
        pathLoss: PathLossPolicy = .failFast,
        addsIdempotencyKeys: Bool = false,
        circuitBreaker: CircuitBreakerPolicy? = nil,
        interceptors: [any RequestInterceptor] = [],
        connectivity: (any Connectivity)? = nil,
        redirects: RedirectPolicy = .follow(),
        authentication: AuthenticationPolicy = .none
    ) {
        self.headers = headers
        self.timeouts = timeouts
        self.tls = tls
        self.requestSerializer = requestSerializer
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.idleTimeout = idleTimeout
        self.maximumBodySize = maximumBodySize
        self.maximumHeadSize = maximumHeadSize
        self.decompresses = decompresses
        self.binding = binding
        self.unixSocketPath = unixSocketPath
        self.proxy = proxy
        self.eventMonitors = eventMonitors
        self.transport = transport
        self.gate = gate
        self.requirement = requirement
        self.retry = retry
        self.pathLoss = pathLoss
        self.addsIdempotencyKeys = addsIdempotencyKeys
        self.circuitBreaker = circuitBreaker
        self.interceptors = interceptors
        self.connectivity = connectivity
        self.redirects = redirects
        self.authentication = authentication
    }
}

extension HTTPConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it says, but for the values of fields that are secrets: those whose names say so, and those that
    /// ``RedirectPolicy/secretFields`` names.
    public var description: String {
        let children = customMirror.children.map { "\($0.label ?? ""): \($0.value)" }
        return "HTTPConfiguration(\(children.joined(separator: ", ")))"
    }

    /// As ``description``.
    public var debugDescription: String { description }

    /// Its properties, but for the values of fields that are secrets.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "headers": shownHeaders, "timeouts": timeouts, "tls": tls, "requestSerializer": requestSerializer,
            "maximumConnectionsPerHost": maximumConnectionsPerHost, "idleTimeout": idleTimeout as Any,
            "maximumBodySize": maximumBodySize, "maximumHeadSize": maximumHeadSize, "decompresses": decompresses,
            "binding": binding, "unixSocketPath": unixSocketPath as Any, "proxy": proxy,
            "eventMonitors": eventMonitors.count, "transport": transport != nil, "gate": gate,
            "requirement": requirement, "retry": retry, "pathLoss": pathLoss,
            "addsIdempotencyKeys": addsIdempotencyKeys, "circuitBreaker": circuitBreaker as Any,
            "interceptors": interceptors.count,
            "redirects": redirects, "authentication": authentication,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }

    private var shownHeaders: [String] {
        headers.map { field in
            let name = field.name.rawName
            return "\(name): \(SecretNames.shown(field: name, field.value, by: "(hidden)", redirects.secretFields))"
        }
    }
}
