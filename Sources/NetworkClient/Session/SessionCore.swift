import Locking
import NIOCore
import NIOHTTP1
import NIOPosix
import Reachability
import ReachabilityCore
import Synchronization

/// The part of a session that runs on its event loop: moves requests from state to state.
///
/// Unchecked, because everything except constants and locks is used on the event loop only, which each entry point
/// checks.
final class SessionCore: @unchecked Sendable {
    let loop: any EventLoop
    let configuration: HTTPConfiguration
    let connector: Connector
    let proxyAuthenticator: ProxyAuthenticator
    let registry = Lock(Registry())
    let events: EventReporter
    /// The connections, by endpoint.
    private(set) lazy var pools = ConnectionPools(self)
    /// The stages that each attempt and its response pass.
    private(set) lazy var stages = StageList(
        self,
        further: configuration.makeStages(),
        negotiation: authentication.mechanism.map {
            NegotiationStage($0, authentication.mechanismOrigins, self)
        }
    )
    /// The source of network paths, for any thread.
    var connectivity: any Connectivity { configuration.connectivity ?? ReachabilityMonitor.shared }
    /// Decides whether requests may be sent, by the paths to their destinations.
    var gate: SessionGate {
        loop.preconditionInEventLoop()
        return lazyGate
    }
    private lazy var lazyGate = SessionGate(self, resolver)
    /// Schedules the requests that have to wait; created for the first request that is not plain.
    private(set) lazy var dispatcher: RequestDispatcher = {
        hasDispatcher = true
        return RequestDispatcher(self)
    }()
    private var hasDispatcher = false
    private let resolver: NameResolver
    /// The store of cookies; nil for none.
    let cookies: CookieStore?
    /// Responds to challenges; created for the first request with credentials.
    private(set) lazy var authenticator = Authenticator(authentication, self)
    private let authentication: ResolvedAuthentication
    /// Whether tokens are obtained before the first request of an origin.
    let obtainsTokens: Bool
    /// The credentials of the netrc file; nil for none.
    var netrc: NetrcCredentials? { authentication.netrc }
    /// Whether connections are closed as soon as they are idle.
    private(set) var isClosing = false
    /// The delays of event streams before they connect again.
    var reconnectDelays: [ObjectIdentifier: ReconnectDelay] = [:]

    init(_ configuration: HTTPConfiguration, loop: any EventLoop, _ resolver: NameResolver) throws(HTTPError) {
        self.loop = loop
        self.configuration = configuration
        events = .init(configuration.eventMonitors, on: loop)
        self.resolver = resolver
        cookies = configuration.cookies.makeStore()
        authentication = try .init(configuration.authentication)
        obtainsTokens = configuration.authentication.tokens.contains(where: \.isPreemptive)
        let proxies = ProxyContext(configuration)
        proxyAuthenticator = proxies.authenticator
        connector = Connector(resolver: resolver, tls: try TLSClient(configuration.tls), proxies: proxies)
    }

    // MARK: Sending

    /// Starts a request, or resumes a paused one.
    func resume(_ handle: RequestHandle) {
        loop.preconditionInEventLoop()
        if handle.run.isPaused { endPause(of: handle) }
        guard handle.run.isReady else { return }
        handle.enter(.queued)
        handle.run.metrics.start = .now()
        do throws(HTTPError) {
            guard let receiver = try handle.makeReceiver() else { return admit(handle) }
            handle.run.extras = .init(receiver: receiver)
            open(receiver, handle)
        } catch {
            end(handle, .failure(error))
        }
    }

    /// Opens the receiver of the response's body before the first attempt.
    private func open(_ receiver: any BodyReceiver, _ handle: RequestHandle) {
        guard let opened = receiver.open() else { return admit(handle) }
        handle.enter(.opening(receiver))
        limit(handle)
        opened.assumeIsolated().whenComplete { [self] result in
            guard case .opening(let current) = handle.run.state, current === receiver else { return }
            handle.enter(.queued)
            switch result {
            case .success: admit(handle)
            case .failure(let error): fail(handle, .bodyWriteFailed(error))
            }
        }
    }

    /// Sends a queued request if it is plain; otherwise passes it to the dispatcher.
    ///
    /// - Parameters:
    ///   - handle: The request.
    ///   - usesCache: Whether the session's cache, if there is one, may have its response.
    func admit(_ handle: RequestHandle, usesCache: Bool = true) {
        if usesCache, let caching = stages.caching, caching.takes(handle) { return }
        if handle.run.isPaused {
            dispatcher.pause(handle)
        } else if handle.current.policy.isPlain {
            send(handle)
        } else {
            dispatcher.admit(handle)
        }
    }

    /// Checks off the event loop whether a request's body can still be read, and sends the request: a file may be on a
    /// disk that hangs.
    func checkBody(_ handle: RequestHandle) {
        guard let check = handle.current.source?.check else { return send(handle, isPrepared: true) }
        let token = BodyCheck()
        handle.enter(.checking(token))
        limit(handle)
        NIOThreadPool.singleton.runIfActive(eventLoop: loop, check).assumeIsolated().whenComplete { [self] result in
            // It may have been paused or have ended meanwhile.
            guard case .checking(let current) = handle.run.state, current === token else { return }
            handle.enter(.queued)
            switch result {
            case .success: send(handle, isPrepared: true)
            case .failure(let error): fail(handle, .unavailableBody(error, .neverSent))
            }
        }
    }

    /// Sends a request that need not wait: starts it on a connection, or queues it for one.
    ///
    /// - Parameters:
    ///   - handle: The request.
    ///   - isPrepared: Whether its asynchronous stages are done, and its body was checked.
    func send(_ handle: RequestHandle, isPrepared: Bool = false) {
        // An earlier attempt, whose URL may have been another one, can have failed before its head was sent.
        if !isPrepared { handle.run.extras?.preparedHead = nil }
        if !isPrepared, stages.mayDefer(handle) { return stages.prepare(handle) }
        if !isPrepared, handle.current.source?.check != nil { return checkBody(handle) }
        if let transport = configuration.transport {
            return TransportAttempt(core: self, handle: handle).start(on: transport)
        }
        if handle.current.endpoint.needsTunnel, let webSocket = handle as? WebSocketRequest,
            pools.startOnStream(webSocket)
        {
            return
        }
        pools.pool(of: handle.endpoint).request(handle)
    }

    /// Sets a timer for the deadline of a request without a connection; an exchange has its own timer.
    ///
    /// A request that is paused gets none.
    func limit(_ handle: RequestHandle) {
        guard !handle.run.isPaused, let due = handle.deadline else { return handle.run.stopWatching() }
        let timer = loop.assumeIsolated().scheduleTask(deadline: due) { [self] in
            fail(handle, .timedOut(.total, after: handle.current.limits.total, at: handle.current.endpoint.text))
        }
        handle.run.watch(timer)
    }

    // MARK: Cancel, pause, resume

    /// Cancels a request in any state.
    func cancel(_ handle: RequestHandle) {
        loop.preconditionInEventLoop()
        guard handle.run.isActive else { return }
        let processing = handle.run.history.processing
        leave(handle)
        end(handle, .failure(.init(.cancelled, processing: processing, reason: "the request was cancelled")))
    }

    /// Pauses a request.
    func pause(_ handle: RequestHandle) {
        loop.preconditionInEventLoop()
        guard !handle.run.isPaused, handle.run.isActive, !handle.run.isUpgraded else { return }
        handle.setPaused(true)
        if events.isObserved(handle) { events.tell(.paused, handle) }
        switch handle.run.state {
        case .opening, .keeping, .carried, .deciding, .delivering:
            handle.run.stopWatching()
            pauseRunning(handle)
        case .exchanging(let exchange) where exchange.canContinueByRange:
            // The received bytes are kept, and the next attempt requests the rest.
            handle.interrupt()
            exchange.cancel()
            dispatcher.pause(handle)
        case .exchanging(let exchange):
            exchange.pause()
            pauseRunning(handle)
        case .pooled(let pool):
            pool.withdraw(handle)
            hold(handle)
        case .checking: hold(handle)
        case .preparing(_, let task):
            task?.cancel()
            hold(handle)
        case .queued: dispatcher.pause(handle)
        case .ready, .upgraded, .attemptEnded, .finished: break
        }
    }

    /// Holds a request that was released and has no connection yet.
    private func hold(_ handle: RequestHandle) {
        handle.enter(.queued)
        dispatcher.pause(handle)
    }

    private func pauseRunning(_ handle: RequestHandle) {
        handle.extras.pauseStart = .now()
        dispatcher.pauseRunning(handle)
    }

    /// Ends the pause of a request; one that was not started yet has nothing to continue.
    private func endPause(of handle: RequestHandle) {
        handle.setPaused(false)
        handle.countPause()
        if events.isObserved(handle) { events.tell(.resumed, handle) }
        // It may have been cancelled while paused, with its receiver still closing.
        guard !handle.run.isReady, handle.run.isActive else { return }
        dispatcher.resume(handle)
        switch handle.run.state {
        case .exchanging(let exchange): exchange.resume()
        case .deciding: resumeDeciding(handle)
        case .delivering(let delivery): delivery.resume()
        case .opening, .keeping, .carried: limit(handle)
        default: break
        }
    }

    // MARK: The end of an attempt

    /// Fails the attempt of a request in any state; no effect if the request has ended.
    func fail(_ handle: RequestHandle, _ error: HTTPError) {
        guard handle.run.isActive else { return }
        leave(handle)
        handle.enter(.attemptEnded)
        attemptFailed(handle, error)
    }

    /// Stops the work for a request in any state.
    private func leave(_ handle: RequestHandle) {
        switch handle.run.state {
        case .ready, .queued, .checking, .attemptEnded, .finished: break
        case .preparing(_, let task): task?.cancel()
        case .deciding(let task): task?.cancel()
        case .pooled(let pool): pool.withdraw(handle)
        case .exchanging(let exchange): exchange.cancel()
        case .upgraded(let connection): connection.abort()
        case .carried(let task): task.cancel()
        case .delivering(let delivery): delivery.cancel()
        case .opening(let receiver), .keeping(let receiver): receiver.abandon()
        }
    }

    /// Handles a failed attempt: the request is resent, retried, or fails.
    ///
    /// - Parameters:
    ///   - handle: The request, whose attempt has ended.
    ///   - error: The error of the attempt.
    ///   - isLoss: Whether the connection was lost before a response began.
    func attemptFailed(_ handle: RequestHandle, _ error: HTTPError, isLoss: Bool = false) {
        loop.preconditionInEventLoop()
        let canResend = handle.canResend
        if isLoss, canResend, handle.run.history.resends(isRepeatable: handle.current.isRepeatable) {
            return resend(handle, error)
        }
        if let caching = stages.caching, caching.replaces(handle, error) { return }
        var error = error
        // An invalid response also counts as a response.
        if error.processing != .answered, error.processing != .refusedUnprocessed {
            error.processing = handle.run.history.processing
        }
        if canResend, handle.current.policy.mayRetry, dispatcher.failed(handle, error, .failure(error)) { return }
        end(handle, .failure(error))
    }

    /// Resends a request that its server has not processed, whatever its method (RFC 9113, 8.7).
    func attemptWasRefused(_ handle: RequestHandle, _ error: HTTPError) {
        // The history has to know of the refusal even if the body can't be read again.
        let resends = handle.run.history.resendsUnprocessed()
        guard resends, handle.canResend else {
            var error = error
            // An earlier attempt may have been processed.
            if handle.run.history.processing != .neverSent { error.processing = handle.run.history.processing }
            return attemptFailed(handle, error)
        }
        if events.isObserved(handle) { events.tell(.sentAgain(because: error), handle) }
        handle.enter(.queued)
        if handle.run.isPaused { dispatcher.pause(handle) } else { send(handle) }
    }

    /// Resends a request whose connection was lost.
    private func resend(_ handle: RequestHandle, _ error: HTTPError) {
        if events.isObserved(handle) { events.tell(.sentAgain(because: error), handle) }
        // Other idle connections may be dead as well.
        pools.pool(of: handle.endpoint).drain()
        handle.enter(.queued)
        if handle.run.isPaused { dispatcher.pause(handle) } else { send(handle) }
    }

    /// Resends a request without receiving the rest of its response: its connection is closed.
    func restart(_ handle: RequestHandle, _ exchange: Exchange) {
        handle.interrupt()
        exchange.abandon()
        if handle.run.scheduled != nil { dispatcher.finishHop(handle) }
        admit(handle)
    }

    /// Handles a complete response whose receiver has to store it before the request ends.
    func keep(_ handle: RequestHandle, _ receiver: any BodyReceiver, _ response: DataResponse) {
        guard let kept = receiver.end() else { return answered(handle, response) }
        handle.enter(.keeping(receiver))
        limit(handle)
        kept.assumeIsolated().whenComplete { [self] result in
            guard case .keeping(let current) = handle.run.state, current === receiver else { return }
            handle.enter(.attemptEnded)
            switch result {
            case .success:
                var response = response
                response.file = receiver.file
                answered(handle, response)
            case .failure(let error): attemptFailed(handle, .bodyWriteFailed(error))
            }
        }
    }

    /// Handles a complete response: it ends the request unless another attempt follows.
    func answered(_ handle: RequestHandle, _ response: DataResponse) {
        loop.preconditionInEventLoop()
        let decision = stages.completed(response, handle)
        // A single exchange in memory: it was neither redirected nor withheld, and no part of its body is missing.
        if decision.isEnd, handle.run.extras == nil, !handle.current.policy.mayRetryResponses {
            handle.run.enter(.finished)
            return report(handle, .success(response), nil)
        }
        follow(handle, decision, response)
    }

    // MARK: After a response

    /// Carries out the decision on a complete response.
    private func follow(_ handle: RequestHandle, _ decision: ResponseDecision, _ response: DataResponse) {
        switch decision {
        case .deferred:
            // The request can be cancelled, and its deadline continues.
            handle.run.retry(wasProcessed: false)
            handle.enter(.deciding(nil))
            limit(handle)
        case .end, .proceed: endUnlessRetried(handle, response)
        case .fail(let error): end(handle, .failure(error))
        case .resend(let request):
            handle.run.extras?.following?.missingBody = nil
            go(on: handle, with: request)
        }
    }

    /// Ends a request with its response, unless a part of the body is missing, or it is retried because of the status.
    private func endUnlessRetried(_ handle: RequestHandle, _ response: DataResponse) {
        let following = handle.run.extras?.following
        if let missingBody = following?.missingBody { return end(handle, .failure(missingBody)) }
        var response = response
        if let redirects = following?.redirects, !redirects.isEmpty { response.redirects = redirects }
        if handle.run.extras != nil { response.mayBeFromPortal = handle.mayBeFromPortal && response.cached == nil }
        if following?.isHeldBack == true { return deliver(handle, response) }
        let mayRetry = handle.current.policy.mayRetryResponses && handle.canResend
        if mayRetry, dispatcher.answered(handle, response) { return }
        end(handle, .success(response))
    }

    /// Carries out a deferred decision on a response, after a pause if there is one; no effect if the request has
    /// ended.
    func decided(_ handle: RequestHandle, _ decision: ResponseDecision, _ response: DataResponse) {
        if case .deferred = decision { return }
        decided(handle) { [self] in follow(handle, decision, response) }
    }

    /// Carries out the deferred decision of a stage; if it is to proceed, the stages after it decide.
    func finishDeferral(
        _ handle: RequestHandle,
        _ response: DataResponse,
        of stage: any ExchangeStage,
        with decision: ResponseDecision
    ) {
        guard case .proceed = decision else { return decided(handle, decision, response) }
        decided(handle) { [self] in
            follow(handle, stages.completed(response, handle, after: stage), response)
        }
    }

    /// Carries out a deferred decision, after a pause if there is one; no effect if the request has ended.
    func decided(_ handle: RequestHandle, _ perform: @escaping () -> Void) {
        loop.preconditionInEventLoop()
        guard handle.run.isDeciding else { return }
        guard !handle.run.isPaused else {
            handle.extras.heldDecision = perform
            return
        }
        handle.enter(.attemptEnded)
        perform()
    }

    /// Resumes a request that awaits a decision, and carries the decision out if it was made during the pause.
    private func resumeDeciding(_ handle: RequestHandle) {
        limit(handle)
        guard let perform = handle.run.extras?.heldDecision else { return }
        handle.extras.heldDecision = nil
        decided(handle, perform)
    }

    /// Sends the request that follows a response; its path is evaluated again, and it waits for one if necessary.
    private func go(on handle: RequestHandle, with request: PreparedRequest) {
        guard request.source == nil || handle.canResend else {
            return end(handle, .failure(.notReplayable(at: request.endpoint.text)))
        }
        guard mayGo(on: handle, with: request) else {
            return end(handle, .failure(.init(.cancelled, processing: .neverSent, reason: "the request was cancelled")))
        }
        if handle.run.scheduled != nil { dispatcher.finishHop(handle) }
        handle.endExchange()
        handle.extras.hop = Hop(request)
        handle.retry(wasProcessed: false)
        // A pause holds it back until then: the cache has to decide about its own URL first.
        handle.enter(.deciding(nil))
        // In the next turn, when the connection of the response is free and can be reused.
        loop.execute { [self] in
            decided(handle) { [self] in
                handle.enter(.queued)
                admit(handle)
            }
        }
    }

    /// Asks the hook of a request whether another one may repeat it.
    private func mayGo(on handle: RequestHandle, with request: PreparedRequest) -> Bool {
        guard let hook = handle.current.policy.interceptors?.hook,
            request.head.method == handle.current.head.method
        else { return true }
        return hook.mayGoOn()
    }

    /// Ends a request with a response that was withheld from its receiver, which gets the body now.
    private func deliver(_ handle: RequestHandle, _ response: DataResponse) {
        handle.run.extras?.following?.isHeldBack = false
        do throws(HTTPError) {
            guard let receiver = handle.run.extras?.receiver,
                let stored = try receiver.receive(response.http1, response.buffer)
            else { return end(handle, .success(response)) }
            handle.enter(.keeping(receiver))
            limit(handle)
            stored.assumeIsolated().whenComplete { [self] result in
                guard case .keeping(let current) = handle.run.state, current === receiver else { return }
                handle.enter(.attemptEnded)
                if case .failure(let error) = result { return end(handle, .failure(.bodyWriteFailed(error))) }
                end(handle, .success(response))
            }
        } catch {
            end(handle, .failure(error))
        }
    }

    // MARK: The end

    /// Ends a request.
    func end(_ handle: RequestHandle, _ ending: Outcome.Ending) {
        handle.run.enter(.finished)
        handle.run.extras?.heldDecision = nil
        guard let closed = handle.run.extras?.receiver?.close() else { return reportEnd(of: handle, ending) }
        closed.assumeIsolated().whenComplete { [self] _ in reportEnd(of: handle, ending) }
    }

    /// Ends a request; an error gets the request's description, its tag and its metrics before.
    private func reportEnd(of handle: RequestHandle, _ ending: Outcome.Ending) {
        guard case .failure(var error) = ending else { return report(handle, ending, nil) }
        error.request = error.request ?? handle.current.description
        error.tag = handle.tag
        error.run = FailedRun(handle.run.metrics.ended(at: handle.current.url))
        report(handle, .failure(error), error)
    }

    /// Tells everyone who waits for a request how it ended.
    private func report(_ handle: RequestHandle, _ ending: Outcome.Ending, _ error: HTTPError?) {
        if !handle.current.policy.isPlain || handle.run.scheduled != nil {
            // A stored response says nothing about the host.
            let isSuccess = error == nil && handle.run.extras?.caching?.isWithoutServer != true
            dispatcher.ended(handle, isSuccess: isSuccess)
        }
        stages.ended(handle, error)
        let isLast = registry.withLock { $0.remove(handle) }
        events.reportEnd(of: handle, ending)
        handle.end(ending)
        if isLast { close() }
    }

    /// Closes the idle connections, and reports the session's end to its monitors once no request is left.
    func close() {
        loop.preconditionInEventLoop()
        isClosing = true
        for delay in Array(reconnectDelays.values) { delay.end() }
        pools.drain()
        if registry.withLock({ $0.live.isEmpty }) {
            if hasDispatcher { dispatcher.shutDown() }
            gate.shutDown()
        }
        guard registry.withLock({ $0.announce() }) else { return }
        events.sessionWasInvalidated()
    }
}
