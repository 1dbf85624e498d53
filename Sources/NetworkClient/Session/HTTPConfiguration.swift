public import Dispatch
import Glibc
import NetworkClientCore
public import ReachabilityCore

/// The settings of a session.
///
/// ```swift
/// var configuration = HTTPConfiguration(retry: .standard)
/// configuration.gate = .waitsForConnectivity(.minutes(5))
/// let session = try HTTPSession(configuration: configuration)
/// ```
/// Later changes to the configuration have no effect on the session.
public struct HTTPConfiguration: Sendable {
    /// The header fields of every request; empty by default.
    ///
    /// ``HTTPSession/updateHeaders(_:)`` changes them later.
    ///
    /// A request's own fields replace those of the same name. `User-Agent`, `Accept-Encoding` and `Accept-Language`
    /// have default values, which these fields replace too.
    public var headers: HTTPFields
    /// The time limits of the stages of each request.
    public var timeouts: Timeouts
    /// The trusted servers, the client certificate and the minimum version of TLS.
    public var tls: TLSOptions
    /// The serializer that writes a request's parameters into its query or body; form encoding by default.
    ///
    /// It is called for each request, also for one without parameters.
    public var requestSerializer: any RequestSerializer
    /// The acceptable responses, and the decoder of JSON.
    public var responseSerializer: ResponseSerializerSettings
    /// The use of HTTP/2; by default with servers that select it in the TLS handshake.
    public var http2: HTTP2Policy
    /// The maximum number of connections to one host and port; further requests wait; 6 by default.
    ///
    /// With HTTP/2, another connection is opened only when the others carry as many requests as the server allows.
    public var maximumConnectionsPerHost: Int
    /// The time after which an unused connection is closed; 60 seconds by default, nil to leave that to the server.
    public var idleTimeout: Duration?
    /// The maximum size of a response's body in memory, after decompression, in bytes; 64 MiB by default.
    ///
    /// It can't be more than 4 GiB less one byte. A larger response fails with ``HTTPError/Code/bodyTooLarge``: download it
    /// to a file or read it as a stream, which are not subject to it, or set ``RequestOptions/maximumBodySize``.
    public var maximumBodySize: Int
    /// The maximum number of bytes of a response's body that an error contains (``HTTPError/body``); 1 MiB by default.
    public var maximumErrorBodySize: Int {
        didSet { maximumErrorBodySize = max(0, maximumErrorBodySize) }
    }
    /// The maximum size of a response's head, in bytes; 256 KiB by default.
    ///
    /// It applies to the status line and all fields together, including those of preceding interim responses (1xx), and
    /// separately to the trailers.
    public var maximumHeadSize: Int
    /// Whether compressed responses are requested (`Accept-Encoding: gzip, deflate`) and decompressed; true by default.
    public var decompresses: Bool
    /// The interface or source address that connections are bound to; none by default.
    public var binding: LocalBinding
    /// The type of traffic for routers and the queues of this machine; nil, the default, for the kernel's defaults.
    public var serviceType: NetworkServiceType?
    /// The path of a Unix socket (unix(7)) to which all requests are sent, regardless of the host in their URL; nil,
    /// the default, for TCP.
    public var unixSocketPath: String?
    /// The proxies; by default those that the environment variables name.
    public var proxy: ProxyConfiguration
    /// The queue of closures that are passed without a queue, such as that of ``DataRequest/response(on:_:)``; a concurrent
    /// one by default.
    public var callbackQueue: DispatchQueue
    /// The monitors that receive the events of all requests; none by default.
    public var eventMonitors: [any EventMonitor]
    /// The transport that sends requests in place of the session's own connections; nil by default.
    public var transport: (any Transport)?

    /// Whether requests wait until there is a path to their destination; by default they start immediately.
    public var gate: GatePolicy
    /// The requirement on paths; `any` by default.
    ///
    /// With any other, connections are bound to an interface that meets it.
    public var requirement: PathRequirement
    /// The source of knowledge about the path beyond the kernel's routes; nil, the default, for none.
    ///
    /// While it does not report the path as validated, responses over plain HTTP may be a captive portal's. Their cookies are
    /// not stored, they are not cached, and they have ``DataResponse/mayBeFromPortal``. Requests with
    /// ``validationRequirement`` don't return them. `PathValidator.gating(_:)` sets both.
    public var validation: (any PathValidation)?
    /// Whether requests wait while the path is known not to lead to the internet; `any`, the default, for no.
    ///
    /// `validated` needs ``validation``. Whether requests wait, and how long, is set by ``gate``, as with ``requirement``.
    /// Requests to this machine are not concerned.
    public var validationRequirement: ValidationRequirement
    /// The conditions and delays for retrying failed requests; by default they are not retried.
    public var retry: RetryPolicy
    /// The handling of a running request whose path is lost; it fails immediately by default.
    ///
    /// It has an effect only where paths are checked: with ``gate`` or ``requirement``.
    public var pathLoss: PathLossPolicy
    /// Whether requests with a method that is not idempotent get a random `Idempotency-Key` if they have none; false by
    /// default.
    public var addsIdempotencyKeys: Bool
    /// The conditions under which requests to a failing host are blocked for a while; nil, the default, for never.
    public var circuitBreaker: CircuitBreakerPolicy?
    /// The interceptors of all requests; none by default.
    ///
    /// Their ``RequestInterceptor/adapt(_:for:)`` is called in order before that of the request's own interceptors, and
    /// their ``RequestInterceptor/retry(_:)`` after it.
    public var interceptors: [any RequestInterceptor]
    /// The source of network paths; nil, the default, for `ReachabilityMonitor.shared`, which is started when the first
    /// request with a gate or a requirement needs it.
    public var connectivity: (any Connectivity)?

    /// The redirects that are followed; up to 20 by default, but none from https to http.
    public var redirects: RedirectPolicy
    /// The credentials and tokens for servers that require authentication; none by default.
    public var authentication: AuthenticationPolicy
    /// The cookies; by default they are stored in memory, by each session for itself.
    public var cookies: CookiePolicy
    /// The cache of responses; nil, the default, for none.
    public var cache: HTTPCache?
    /// The use of the cache by requests whose options do not say otherwise; by the rules of HTTP by default.
    public var cachePolicy: CachePolicy
    /// Decides about each response that may be stored; nil, the default, to store all of them.
    ///
    /// It is called on the session's event loop, when the head has been received, and must not block.
    public var willCache: WillCache?

    /// Makes the stages that run before the client's own; called once per session.
    package var makeStages: @Sendable () -> [any ExchangeStage] = { [] }
    /// Makes connections in place of the client's own; nil by default.
    package var makeConnection: ConnectionMaker?
    /// The time limits that have no setting.
    var fixedLimits = FixedLimits()

    /// Whether requests may use cellular networks.
    ///
    /// Changing it sets ``requirement`` to `any` or `notCellular`.
    public var allowsCellularAccess: Bool {
        get { requirement != .notCellular && requirement != .notExpensive && requirement != .wifi }
        set {
            if newValue != allowsCellularAccess { requirement = newValue ? .any : .notCellular }
        }
    }

    /// Creates a configuration; the properties describe the parameters.
    public init(
        headers: HTTPFields = [:],
        timeouts: Timeouts = .init(),
        tls: TLSOptions = .init(),
        requestSerializer: any RequestSerializer = FormSerializer(),
        responseSerializer: ResponseSerializerSettings = .init(),
        http2: HTTP2Policy = .automatic,
        maximumConnectionsPerHost: Int = 6,
        idleTimeout: Duration? = .seconds(60),
        maximumBodySize: Int = 64 << 20,
        maximumErrorBodySize: Int = 1 << 20,
        maximumHeadSize: Int = 256 << 10,
        decompresses: Bool = true,
        binding: LocalBinding = .unbound,
        serviceType: NetworkServiceType? = nil,
        unixSocketPath: String? = nil,
        proxy: ProxyConfiguration = .environment,
        callbackQueue: DispatchQueue = .global(),
        eventMonitors: [any EventMonitor] = [],
        transport: (any Transport)? = nil,
        gate: GatePolicy = .startsImmediately,
        requirement: PathRequirement = .any,
        validation: (any PathValidation)? = nil,
        validationRequirement: ValidationRequirement = .any,
        retry: RetryPolicy = .never,
        pathLoss: PathLossPolicy = .failFast,
        addsIdempotencyKeys: Bool = false,
        circuitBreaker: CircuitBreakerPolicy? = nil,
        interceptors: [any RequestInterceptor] = [],
        connectivity: (any Connectivity)? = nil,
        redirects: RedirectPolicy = .follow(),
        authentication: AuthenticationPolicy = .none,
        cookies: CookiePolicy = .memory,
        cache: HTTPCache? = nil,
        cachePolicy: CachePolicy = .useProtocol,
        willCache: WillCache? = nil
    ) {
        self.headers = headers
        self.timeouts = timeouts
        self.tls = tls
        self.requestSerializer = requestSerializer
        self.responseSerializer = responseSerializer
        self.http2 = http2
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.idleTimeout = idleTimeout
        self.maximumBodySize = maximumBodySize
        self.maximumErrorBodySize = max(0, maximumErrorBodySize)
        self.maximumHeadSize = maximumHeadSize
        self.decompresses = decompresses
        self.binding = binding
        self.serviceType = serviceType
        self.unixSocketPath = unixSocketPath
        self.proxy = proxy
        self.callbackQueue = callbackQueue
        self.eventMonitors = eventMonitors
        self.transport = transport
        self.gate = gate
        self.requirement = requirement
        self.validation = validation
        self.validationRequirement = validationRequirement
        self.retry = retry
        self.pathLoss = pathLoss
        self.addsIdempotencyKeys = addsIdempotencyKeys
        self.circuitBreaker = circuitBreaker
        self.interceptors = interceptors
        self.connectivity = connectivity
        self.redirects = redirects
        self.authentication = authentication
        self.cookies = cookies
        self.cache = cache
        self.cachePolicy = cachePolicy
        self.willCache = willCache
    }
}

extension HTTPConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The settings, without the values of secret fields: those with a name such as `Authorization` or `X-Api-Key`, and
    /// those in ``RedirectPolicy/secretFields``.
    public var description: String {
        let children = customMirror.children.map { "\($0.label ?? ""): \($0.value)" }
        return "HTTPConfiguration(\(children.joined(separator: ", ")))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror of the settings, without the values of secret fields.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "headers": shownHeaders, "timeouts": timeouts, "tls": tls, "requestSerializer": requestSerializer,
            "responseSerializer": responseSerializer,
            "http2": http2, "maximumConnectionsPerHost": maximumConnectionsPerHost, "idleTimeout": idleTimeout as Any,
            "maximumBodySize": maximumBodySize, "maximumErrorBodySize": maximumErrorBodySize,
            "maximumHeadSize": maximumHeadSize, "decompresses": decompresses, "binding": binding,
            "serviceType": serviceType as Any, "unixSocketPath": unixSocketPath as Any, "proxy": proxy,
            "eventMonitors": eventMonitors.count, "transport": transport != nil, "gate": gate,
            "requirement": requirement, "validation": validation != nil,
            "validationRequirement": validationRequirement, "retry": retry, "pathLoss": pathLoss,
            "addsIdempotencyKeys": addsIdempotencyKeys, "circuitBreaker": circuitBreaker as Any,
            "interceptors": interceptors.count,
            "redirects": redirects, "authentication": authentication, "cookies": cookies, "cache": cache as Any,
            "cachePolicy": cachePolicy, "willCache": willCache != nil,
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

extension ProxyContext {
    /// Creates the context for a session's configuration.
    ///
    /// Pins, the client certificate and the challenge handler apply to origins only. A proxy's policy is found by its
    /// host.
    init(_ configuration: HTTPConfiguration) {
        self.init()
        tls = .init(
            policiesByHost: configuration.tls.policiesByHost,
            roots: configuration.tls.roots,
            minimumVersion: configuration.tls.minimumVersion
        )
        maximumHead = configuration.maximumHeadSize
        mechanism = configuration.authentication.mechanism.flatMap { $0.includesProxies ? $0 : nil }
    }
}
