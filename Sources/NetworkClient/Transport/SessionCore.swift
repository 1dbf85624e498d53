import Locking
import NIOCore
import NIOPosix
import Synchronization

/// The part of a session that lives on its event loop: which request is where.
///
/// Unchecked, because what is not a constant or a mutex is touched on the event loop only.
final class SessionCore: @unchecked Sendable {
    let loop: any EventLoop
    let configuration: HTTPConfiguration
    let connector: Connector
    let proxyAuthenticator: ProxyAuthenticator
    let registry = Lock(Registry())
    private let monitors: [any EventMonitor]
    private(set) var hosts: [Endpoint: HostConnections] = [:]
    private var recent: HostConnections?
    /// Holds what waits, and lets it go.
    var dispatcher: RequestDispatcher {
        if let madeDispatcher { return madeDispatcher }
        let dispatcher = RequestDispatcher(self) { [unowned self] in makeKeeper() }
        madeDispatcher = dispatcher
        return dispatcher
    }
    private var madeDispatcher: RequestDispatcher?
    /// Whether a request has asked for the ways out.
    var hasKeeper: Bool { madeDispatcher?.madeKeeper != nil }
    let resolver: NameResolver
    /// Answers challenges; made when the first request appears as somebody.
    private(set) lazy var authenticator = Authenticator(authentication, self)
    private let authentication: ResolvedAuthentication
    /// Whether connections are closed as soon as they are idle.
    private(set) var isClosing = false

    init(_ configuration: HTTPConfiguration, loop: any EventLoop, _ resolver: NameResolver) throws(HTTPError) {
        self.loop = loop
        self.configuration = configuration
        monitors = configuration.eventMonitors
        self.resolver = resolver
        authentication = try .init(configuration.authentication)
        let proxies = ProxyMeans(configuration)
        proxyAuthenticator = proxies.authenticator
        connector = Connector(resolver: resolver, tls: try TLSClient(configuration.tls), proxies: proxies)
    }

    /// Whether somebody follows all requests, or this one.
    func isObserved(_ handle: RequestHandle) -> Bool {
        !monitors.isEmpty || handle.isHeard.load(ordering: .relaxed)
    }

    /// Tells what happened; not called where nobody listens, so that the event is not even made.
    func tell(_ event: RequestEvent, _ handle: RequestHandle) {
        for monitor in monitors { monitor.request(handle, did: event) }
        handle.tell(event)
    }

    // MARK: A request's way

    func start(_ handle: RequestHandle) {
        guard handle.run.life.start() else { return }
        handle.noteState()
        handle.run.metrics.start = .now()
        do throws(HTTPError) {
            guard let receiver = try handle.makeReceiver() else { return admit(handle) }
            handle.run.extras = .init(receiver: receiver)
            open(receiver, handle)
        } catch {
            end(handle, .failure(error))
        }
    }

    func admit(_ handle: RequestHandle) {
        if handle.run.isPaused {
            dispatcher.pause(handle)
        } else if handle.current.policy.isPlain {
            enqueue(handle)
        } else {
            dispatcher.admit(handle)
        }
    }

    /// Lets a request go, once it was seen that its body can be sent.
    func enqueue(_ handle: RequestHandle) {
        guard let check = handle.current.source?.check else { return send(handle) }
        self.check(handle, check)
    }

    /// Gives a request to a connection, or lets it wait for one.
    func send(_ handle: RequestHandle) {
        if let transport = configuration.transport { return carry(handle, by: transport) }
        connections(to: handle.endpoint).request(handle)
        guard case .waiting = handle.run.place else { return }
        if isObserved(handle) { tell(.waiting, handle) }
        limit(handle)
    }

    /// Until it has a connection, which has a timer, a request with a deadline has one of its own.
    ///
    /// While its user has paused it, it has none.
    func limit(_ handle: RequestHandle) {
        handle.run.timer?.cancel()
        handle.run.timer = nil
        guard !handle.run.isPaused, let due = handle.deadline else { return }
        handle.run.timer = loop.assumeIsolated().scheduleTask(deadline: due) { [self] in
            fail(handle, .timedOut(.total, after: handle.current.limits.total, handle.current.copy))
        }
    }

    /// Takes a request off wherever it is, and ends it.
    func cancel(_ handle: RequestHandle) {
        let processing = handle.run.life.processing
        guard handle.run.life.cancel() else { return }
        leave(handle)
        end(handle, .failure(.init(.cancelled, processing, "the request was cancelled")))
    }

    /// Ends a request with an error, or sends it again.
    func fail(_ handle: RequestHandle, _ error: HTTPError, isLoss: Bool = false) {
        let isRefusal = error.processing == .refusedUnprocessed
        let canGoAgain = handle.canGoAgain
        let isRepeatable = canGoAgain && handle.current.isRepeatable
        let isLoss = isLoss && canGoAgain
        switch handle.run.life.failed(isLoss: isLoss, isRepeatable: isRepeatable, isRefusal: isRefusal) {
        case .none: break
        case .sendAgain:
            if isObserved(handle) { tell(.sentAgain(because: error), handle) }
            // Where one connection was dead, those that are as old are suspect.
            connections(to: handle.endpoint).drain()
            handle.run.place = .nowhere
            handle.noteState()
            if handle.run.isPaused { dispatcher.pause(handle) } else { enqueue(handle) }
        case .fail(let processing):
            leave(handle)
            var error = error
            // What came and was no answer that can be read was an answer all the same.
            if error.processing != .answered { error.processing = processing }
            if canGoAgain, handle.current.policy.isScheduled, dispatcher.failed(handle, error) { return }
            end(handle, .failure(error))
        }
    }

    /// An answer is whole: the request's end, unless its status says to try again.
    func answered(_ handle: RequestHandle, _ response: DataResponse) {
        guard handle.run.life.ended() else { return }
        handle.run.place = .nowhere
        let followUp = followUp(of: handle, response)
        guard let redirects = handle.run.extras?.following?.redirects, !redirects.isEmpty else {
            return follow(handle, followUp, response)
        }
        var response = response
        response.redirects = redirects
        follow(handle, followUp, response)
    }

    private func leave(_ handle: RequestHandle) {
        switch handle.run.place {
        case .nowhere, .checking, .asked: break
        case .waiting(let host): host.withdraw(handle)
        case .connection(let connection): connection.abandon()
        case .elsewhere(let task): task.cancel()
        case .ending(let receiver): receiver.abandon()
        }
    }

    func end(_ handle: RequestHandle, _ ending: Outcome.Ending) {
        handle.run.place = .nowhere
        handle.run.timer?.cancel()
        handle.run.timer = nil
        guard let closed = handle.run.extras?.receiver?.close() else { return tellEnd(of: handle, ending) }
        closed.assumeIsolated().whenComplete { [self] _ in tellEnd(of: handle, ending) }
    }

    private func tellEnd(of handle: RequestHandle, _ ending: Outcome.Ending) {
        var ending = ending
        if case .failure(var error) = ending, error.request == nil {
            error.request = handle.current.description
            ending = .failure(error)
        }
        if !handle.current.policy.isPlain || handle.run.scheduled != nil {
            dispatcher.ended(handle, isSuccess: ending.isSuccess)
        }
        let isLast = registry.withLock { $0.remove(handle) }
        for monitor in monitors { monitor.request(handle, did: .finished(ending)) }
        handle.end(ending)
        if isLast { close() }
    }

    // MARK: Connections

    /// How many connections there are, those included that are being opened.
    var connectionCount: Int { hosts.values.reduce(0) { $0 + $1.count } }

    private func connections(to endpoint: Endpoint) -> HostConnections {
        if let recent, recent.endpoint == endpoint { return recent }
        let host = hosts[endpoint] ?? HostConnections(endpoint, core: self)
        hosts[endpoint] = host
        recent = host
        return host
    }

    /// Forgets hosts without a connection, so that a session that talks to many does not grow.
    func forget(_ host: HostConnections) {
        guard hosts[host.endpoint] === host else { return }
        hosts[host.endpoint] = nil
        if recent === host { recent = nil }
    }

    /// Takes no more requests; closes what is idle, and tells once that the session is over.
    func close() {
        isClosing = true
        for host in hosts.values { host.drain() }
        if let madeDispatcher, registry.withLock({ $0.live.isEmpty }) { madeDispatcher.shutDown() }
        guard registry.withLock({ $0.announce() }) else { return }
        for monitor in monitors { monitor.sessionWasInvalidated() }
    }
}
