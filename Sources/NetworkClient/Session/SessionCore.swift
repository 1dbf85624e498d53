import Locking
import NIOCore
import NIOHTTP1
import NIOPosix
import Reachability
import ReachabilityCore
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
            fail(handle, .timedOut(.total, after: handle.current.limits.total, at: handle.current.endpoint.text))
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
        case .exchanging(let exchange): exchange.abandon()
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

extension SessionCore {
    /// What judges the ways out; nil in a session of which no request ever asks.
    ///
    /// A request may ask though its session does not: so it is made with the first request that is not plain.
    func makeKeeper() -> GateKeeper {
        GateKeeper(
            connectivity: configuration.connectivity ?? ReachabilityMonitor.shared,
            resolver: resolver,
            loop: loop,
            onChange: { [weak self] key, verdict in self?.dispatcher.gateChanged(key, verdict) }
        )
    }

    /// What follows the paths of connections; nil in a session without a gate.
    var followingKeeper: GateKeeper? {
        guard configuration.gate.waits || configuration.requirement != .any || hasKeeper else { return nil }
        return dispatcher.keeper
    }

    /// There is no way any more to where connections are being opened: who waits for them waits for a way instead.
    func giveUpConnecting(_ key: GateKey, _ wait: GateWait) {
        for host in Array(hosts.values) where GateKey(host.endpoint) == key { host.giveUpConnecting(wait) }
    }

    /// The user pauses a request.
    func pause(_ handle: RequestHandle) {
        guard !handle.run.isPaused, handle.run.life.phase != .finished else { return }
        handle.run.isPaused = true
        handle.noteState()
        if isObserved(handle) { tell(.paused, handle) }
        switch handle.run.place {
        case .ending, .elsewhere, .asked:
            handle.run.timer?.cancel()
            handle.run.timer = nil
            pauseUnderWay(handle)
        case .exchanging(let exchange) where exchange.canContinueByRange: interrupt(handle, exchange)
        case .exchanging(let exchange):
            exchange.pause()
            pauseUnderWay(handle)
        case .waiting(let host):
            host.withdraw(handle)
            hold(handle)
        case .checking: hold(handle)
        case .nowhere:
            if handle.run.life.phase == .waiting { dispatcher.pause(handle) }
        }
    }

    /// Keeps what was let go and has no connection yet.
    private func hold(_ handle: RequestHandle) {
        handle.run.place = .nowhere
        handle.run.timer?.cancel()
        handle.run.timer = nil
        dispatcher.pause(handle)
    }

    /// Gives the connection up: what has come is kept, and another attempt goes on behind it.
    private func interrupt(_ handle: RequestHandle, _ exchange: Exchange) {
        handle.run.place = .nowhere
        exchange.abandon()
        handle.run.life.interrupted()
        handle.run.metrics.bodyBytesReceived = 0
        dispatcher.pause(handle)
    }

    private func pauseUnderWay(_ handle: RequestHandle) {
        handle.extras.pauseStart = .now()
        dispatcher.pauseUnderWay(handle)
    }

    /// The user starts a request, or lets one go on.
    func resume(_ handle: RequestHandle) {
        guard handle.run.isPaused else { return start(handle) }
        handle.run.isPaused = false
        handle.noteState()
        handle.run.extras?.countPause()
        if isObserved(handle) { tell(.resumed, handle) }
        if handle.run.life.phase == .ready { return start(handle) }
        dispatcher.resume(handle)
        switch handle.run.place {
        case .exchanging(let exchange): exchange.resume()
        case .asked: goOnAsked(handle)
        case .ending, .elsewhere: limit(handle)
        case .waiting, .checking, .nowhere: break
        }
    }
}

extension Outcome.Ending {
    /// Whether an answer came.
    var isSuccess: Bool { if case .success = self { true } else { false } }
}

/// One look at a request's body, to be told from those before and after it.
final class BodyCheck: Sendable {}

extension SessionCore {
    /// Sees, away from the loop, whether a request's body can still be sent: a file may be on a disk that hangs.
    func check(_ handle: RequestHandle, _ check: @escaping BodySource.Check) {
        let token = BodyCheck()
        handle.run.place = .checking(token)
        limit(handle)
        NIOThreadPool.singleton.runIfActive(eventLoop: loop, check).assumeIsolated().whenComplete { [self] result in
            // It was paused or has ended meanwhile.
            guard case .checking(let current) = handle.run.place, current === token else { return }
            handle.run.place = .nowhere
            switch result {
            case .success: send(handle)
            case .failure(let error): fail(handle, .unavailableBody(error, .neverSent))
            }
        }
    }
}

extension SessionCore {
    /// Gives a request to the user's transport.
    func carry(_ handle: RequestHandle, by transport: any Transport) {
        guard handle.run.life.assigned(isReused: false) else { return }
        handle.run.metrics.assigned = .now()
        let attempt = handle.run.life.attempts
        handle.run.metrics.attempts = attempt
        if isObserved(handle) { tell(.attempt(attempt, isReused: false, connection: .init()), handle) }
        let request = willCarry(handle)
        if request.source != nil { handle.extras.wasBodyRead = true }
        let task = Task { [self] in
            let result: Result<TransportResponse, any Error>
            do {
                let body = try await wholeBody(of: request)
                let whole = TransportRequest(head: request.publicHead, body: body, timeouts: request.limits)
                result = .success(try await transport.send(whole))
            } catch {
                result = .failure(error)
            }
            loop.execute { self.carried(handle, result) }
        }
        handle.run.place = .elsewhere(task)
        limit(handle)
    }

    /// The request as this attempt sends it.
    private func willCarry(_ handle: RequestHandle) -> PreparedRequest {
        var request = handle.current.copy
        handle.run.extras?.receiver?.willSend(&request.head)
        if let login = request.login { authenticator.willSend(&request.head, handle, login) }
        return request
    }

    /// A body, read whole if it is not in memory.
    private func wholeBody(of request: PreparedRequest) async throws -> [UInt8]? {
        guard let source = request.source else { return request.body.map { Array($0.readableBytesView) } }
        var body: [UInt8] = []
        do {
            try await source.read(on: loop) { body.append(contentsOf: $0.readableBytesView) }
        } catch {
            throw HTTPError.unavailableBody(error, .neverSent)
        }
        return body
    }

    private func carried(_ handle: RequestHandle, _ result: Result<TransportResponse, any Error>) {
        guard handle.run.life.phase == .running, case .elsewhere = handle.run.place else { return }
        handle.run.place = .nowhere
        handle.run.metrics.end = .now()
        switch result {
        case .failure(let cause):
            let unknown = HTTPError(.connectionLost, .maybeProcessed, "the transport failed: \(cause)", cause: cause)
            let error = cause as? HTTPError ?? unknown
            if error.processing != .neverSent { handle.run.life.sent() }
            fail(handle, error)
        case .success(let answer):
            let status = HTTPResponseStatus(
                statusCode: answer.head.status.code,
                reasonPhrase: answer.head.status.reasonPhrase
            )
            var headers = HTTPHeaders()
            for field in answer.head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
            let response = DataResponse(
                http1: .init(version: .http1_1, status: status, headers: headers),
                buffer: ByteBuffer(bytes: answer.body),
                metrics: handle.run.metrics,
                address: handle.current.url
            )
            handOn(response, handle)
        }
    }

    /// Gives an answer to whoever takes it in place of memory.
    private func handOn(_ response: DataResponse, _ handle: RequestHandle) {
        guard let receiver = handle.run.extras?.receiver, !withholdsBody(response.http1, handle) else {
            return answered(handle, response)
        }
        do throws(HTTPError) {
            switch try receiver.begin(response.http1) {
            case .memory: answered(handle, response)
            case .whole: keep(handle, receiver, response)
            case .again:
                handle.extras.mustGoAgain = true
                answered(handle, response)
            case .here:
                // It is all there: nobody has to be kept from sending.
                _ = try receiver.receive(response.buffer)
                keep(handle, receiver, response.withoutBody)
            }
        } catch {
            fail(handle, error)
        }
    }
}

extension ProxyMeans {
    /// As a configuration has it.
    ///
    /// Pins, a client's certificate and the challenge handler are for origins; a proxy's own policy is one by its host.
    init(_ configuration: HTTPConfiguration) {
        tls = .init(
            policiesByHost: configuration.tls.policiesByHost,
            roots: configuration.tls.roots,
            minimumVersion: configuration.tls.minimumVersion
        )
        maximumHead = configuration.maximumHeadSize
    }
}

extension SessionCore {
    /// Sends a request again whose answer is not wanted, nor waited for: its connection is closed.
    func restart(_ handle: RequestHandle, _ exchange: Exchange) {
        handle.run.place = .nowhere
        exchange.abandon()
        handle.run.life.interrupted()
        handle.run.metrics.bodyBytesReceived = 0
        if handle.run.scheduled != nil { dispatcher.hopped(handle) }
        handle.noteState()
        admit(handle)
    }

    /// A request begins, and what takes its answer may have to be opened first.
    func open(_ receiver: any BodyReceiver, _ handle: RequestHandle) {
        guard let opened = receiver.open() else { return admit(handle) }
        handle.run.place = .ending(receiver)
        limit(handle)
        opened.assumeIsolated().whenComplete { [self] result in
            guard let result = isOver(receiver, handle, result) else { return }
            switch result {
            case .success: admit(handle)
            case .failure(let error): fail(handle, error)
            }
        }
    }

    /// What a receiver has done for a request, unless that has ended meanwhile.
    private func isOver(
        _ receiver: any BodyReceiver,
        _ handle: RequestHandle,
        _ result: Result<Void, any Error>
    ) -> Result<Void, HTTPError>? {
        guard case .ending(let current) = handle.run.place, current === receiver else { return nil }
        handle.run.place = .nowhere
        handle.run.timer?.cancel()
        handle.run.timer = nil
        return result.mapError { .unkeptBody($0) }
    }

    /// An answer is whole, and its receiver has to have kept it before the request ends.
    func keep(_ handle: RequestHandle, _ receiver: any BodyReceiver, _ response: DataResponse) {
        guard let kept = receiver.end() else { return answered(handle, response) }
        handle.run.place = .ending(receiver)
        limit(handle)
        kept.assumeIsolated().whenComplete { [self] result in
            guard let result = isOver(receiver, handle, result) else { return }
            switch result {
            case .success:
                var response = response
                response.file = receiver.file
                answered(handle, response)
            case .failure(let error): fail(handle, error)
            }
        }
    }
}
