import NIOCore
import NIOPosix
public import NetworkClient
import Reachability
public import ValidationCore

/// A validator of the current path: whether it leads to the internet, or to a captive portal.
///
/// ```swift
/// let own = ValidationEndpoint.http("https://status.example.com/generate_204")
/// let validator = try PathValidator(endpoints: [own].compactMap(\.self))
/// let session = try HTTPSession(configuration: validator.observing(.init()))
/// for await report in validator.verdicts { print(report.verdict) }
/// ```
///
/// It is off unless a program creates it, and sparing: ``ValidationConfiguration`` says when probes are sent. Requests of an
/// observed session that are answered over https take the place of probes.
///
/// Probes are bound to the path's interface, and use a session of their own: without cache, cookies, credentials, redirects
/// and gate. A portal's answer to one never reaches the program's sessions.
///
/// **Isolation**: all members can be used from any thread. Probing ends when the validator is released.
public final class PathValidator: Sendable {
    private let engine: ValidatorEngine

    /// Creates a validator of the default path, and starts it.
    ///
    /// - Parameters:
    ///   - configuration: The endpoints, and when they are asked.
    ///   - connectivity: The source of the path; nil, the default, for `ReachabilityMonitor.shared`.
    ///   - tls: The trusted roots, and the client certificate, of probes; a portal's API does not get the certificate.
    ///   - proxy: The proxies of probes with HTTP; by default those that the environment variables name.
    ///   - receivesRouterEvents: Whether to find out which captive portal a network announces (RFC 8910), from routers and the
    ///     leases of DHCP clients; which translator (RFC 8781); and which gateway does not answer. True by default. The events
    ///     are those of the calling thread's network namespace.
    /// - Throws: `HTTPError.Code.invalidConfiguration` for pins that are none, and for TLS options that accept servers
    ///   without proof. If netlink can't be opened, as in a sandbox without `AF_NETLINK`, the validator goes without the
    ///   routers' events.
    public convenience init(
        _ configuration: ValidationConfiguration,
        connectivity: (any Connectivity)? = nil,
        tls: TLSOptions = .init(),
        proxy: ProxyConfiguration = .environment,
        receivesRouterEvents: Bool = true
    ) throws(HTTPError) {
        let source = connectivity ?? ReachabilityMonitor.shared
        let leases = receivesRouterEvents ? LeaseFiles() : nil
        try self.init(configuration, source, tls, proxy, leases)
        if receivesRouterEvents { engine.receiveRouterEvents() }
    }

    /// Creates a validator that reads leases of these files, and does not receive the events of routers.
    init(
        _ configuration: ValidationConfiguration,
        _ connectivity: any Connectivity,
        _ tls: TLSOptions,
        _ proxy: ProxyConfiguration,
        _ leases: LeaseFiles?
    ) throws(HTTPError) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let prober = try EndpointProber(configuration, tls, proxy, loop)
        engine = .init(configuration, prober, loop, leases)
        engine.follow(connectivity)
    }

    /// Creates a validator with these endpoints, and the defaults for everything else.
    ///
    /// - Parameter endpoints: The servers to ask, the most important first.
    /// - Throws: `HTTPError.Code.invalidConfiguration` for pins that are none.
    public convenience init(endpoints: [ValidationEndpoint]) throws(HTTPError) {
        try self.init(.init(endpoints: endpoints))
    }

    deinit { engine.stop() }

    /// The current verdict, with its path, its age and the evidence.
    public var verdict: ValidationReport { engine.report }

    /// The current time, for ``ValidationReport/age(at:)``.
    public static var now: ValidationInstant { .current }

    /// The current verdict and then every change, for `for await`; a slow task receives the newest.
    ///
    /// A verdict that is only confirmed is no change. The sequence ends when the validator is released.
    public var verdicts: AsyncStream<ValidationReport> { engine.makeReports() }

    /// The current path with its verdict, and then every change of either, for `for await`; a slow task receives the newest.
    ///
    /// ```swift
    /// for await change in validator.changes {
    ///     print(change.path.status, change.validation.verdict)
    /// }
    /// ```
    ///
    /// The two belong together: a new path comes with the verdict `notChecked`, and a verdict with the path that was probed.
    /// The sequence ends when the validator is released.
    public var changes: AsyncStream<ValidationChange> { engine.makeChanges() }

    /// Probes the path now, also a metered one, and whatever the budget.
    ///
    /// Several calls at the same time share a round of probes, whose duration ``ValidationConfiguration/timeout`` limits.
    ///
    /// - Returns: The verdict after that; the current one if there is no path, nothing to ask, or the task is cancelled.
    public func check() async -> ValidationReport { await engine.check() }

    /// Returns a session's settings with this validator: requests wait while the path is known to lead to a captive portal, or
    /// not to the internet.
    ///
    /// ```swift
    /// let waiting = HTTPConfiguration(gate: .waitsForConnectivity(.seconds(600)), retry: .standard)
    /// let session = try HTTPSession(configuration: validator.gating(waiting))
    /// ```
    ///
    /// How long they wait is set by `HTTPConfiguration.gate`; without a gate they fail at once. While they wait, the path is
    /// also probed if it is metered, and whatever the budget; the pauses between rounds stay. What a portal sends in place of
    /// servers is not returned, and its cookies and pages are not stored.
    ///
    /// The session is observed, as by ``observing(_:)``, and keeps the validator.
    ///
    /// - Parameters:
    ///   - configuration: The session's settings.
    ///   - requirement: The requirement of requests whose options have none. With `any`, requests don't wait, and a portal's
    ///     responses are returned with `DataResponse.mayBeFromPortal`.
    /// - Returns: The same, with the validator.
    public func gating(
        _ configuration: HTTPConfiguration,
        requirement: ValidationRequirement = .validated
    ) -> HTTPConfiguration {
        var configuration = observing(configuration)
        configuration.validation = self
        configuration.validationRequirement = requirement
        return configuration
    }

    /// Returns a session's settings with an observer: requests that succeed spare probes, and requests that fail cause them.
    ///
    /// Only requests over https from the first redirect on count as proof, because a portal answers plain HTTP, too. They
    /// don't count if the settings accept any certificate or leave the decision to a handler, nor if the request has TLS
    /// options of its own.
    ///
    /// A server of the local network is proof as well: observe sessions with servers on the internet.
    ///
    /// - Parameter configuration: The session's settings.
    /// - Returns: The same, with one more of `HTTPConfiguration.eventMonitors`.
    public func observing(_ configuration: HTTPConfiguration) -> HTTPConfiguration {
        var configuration = configuration
        configuration.eventMonitors.append(SessionObserver(engine, configuration.tls))
        return configuration
    }
}

extension PathValidator: PathValidation {
    /// The verdict, without its details; `inconclusive` if the path was asked about without a conclusion, or there is nothing to
    /// ask.
    public var validationStatus: PathValidationStatus { engine.status }

    /// Probes the path as ``check()`` does.
    public func revalidate() async -> PathValidationStatus {
        _ = await engine.check()
        return engine.status
    }

    /// Calls a closure after each change of ``validationStatus``; until it is cancelled, the path is probed on demand.
    public func watchValidation(_ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch { engine.watch(body) }
}
