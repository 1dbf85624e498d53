import NIOCore
import NIOHTTP1

/// The stages of a session in their order.
///
/// Confined to the session's event loop. The client's own stages are skipped for a successful response to a request
/// without credentials.
final class StageList {
    private unowned let core: SessionCore
    private let stages: [any ExchangeStage]
    /// Whether there are stages that are called for every request: those besides the client's own, and that for Negotiate.
    private let hasFurtherStages: Bool
    /// Whether there are stages that read also the heads of successful responses.
    private let readsEveryHead: Bool
    /// Keeps responses of captive portals apart; nil for a session without validation.
    private let validation: ValidationStage?
    /// Sends and stores cookies; nil for a session without.
    private let cookies: CookieStage?
    /// Uses and stores cached responses; nil for a session without a cache.
    let caching: CacheStage?

    /// Creates the list; the further stages precede the client's own, of which the one for Negotiate is optional.
    init(_ core: SessionCore, further: [any ExchangeStage], negotiation: NegotiationStage?) {
        self.core = core
        hasFurtherStages = !further.isEmpty || negotiation != nil
        validation = core.configuration.validation.map { ValidationStage(core, $0) }
        let cookies = core.cookies.map { CookieStage($0) }
        self.cookies = cookies
        caching = core.configuration.cache.map { CacheStage(core, $0) }
        readsEveryHead = hasFurtherStages || validation != nil || cookies != nil || caching != nil
        let first: [any ExchangeStage] = [TokenStage(core), RangeStage(), InterceptorStage(), ExpectationStage()]
        let last: [any ExchangeStage] = [
            ProxyAuthenticationStage(core), AuthenticationStage(core), RedirectStage(core),
        ]
        stages = [cookies].compactMap(\.self) + further + first + [negotiation].compactMap(\.self) + last
    }

    // MARK: Before a request is sent

    /// Returns whether ``prepare(_:)`` has to be called before a request waits for a connection.
    func mayDefer(_ handle: RequestHandle) -> Bool {
        guard handle.current.policy.interceptors == nil else { return true }
        return (hasFurtherStages || core.obtainsTokens) && stages.contains { $0.mayDefer(handle) }
    }

    /// Calls the stages that may be deferred, and those before them; then the request continues.
    func prepare(_ handle: RequestHandle) {
        let end = stages.lastIndex { $0.mayDefer(handle) }.map { $0 + 1 } ?? 0
        prepare(handle, .init(head: handle.current.head, nextStage: 0), upTo: end)
    }

    private func prepare(_ handle: RequestHandle, _ prepared: PreparedHead, upTo end: Int) {
        var prepared = prepared
        while prepared.nextStage < end {
            let decision = stages[prepared.nextStage].willSend(&prepared.head, handle)
            prepared.nextStage += 1
            switch decision {
            case .ready: continue
            case .deferred(let work):
                return wait(handle, prepared.nextStage, upTo: end) { Self.task(work, $0) }
            case .awaiting(let work):
                return wait(handle, prepared.nextStage, upTo: end) { finish in
                    work(finish)
                    return nil
                }
            }
        }
        handle.extras.preparedHead = prepared
        core.checkBody(handle)
    }

    /// Starts work that completes the head of a request, which continues when the work is finished.
    private func wait(
        _ handle: RequestHandle,
        _ nextStage: Int,
        upTo end: Int,
        _ start: (@escaping @Sendable (Result<HTTPRequestHead, HTTPError>) -> Void) -> Task<Void, Never>?
    ) {
        let core = core
        let preparation = StagePreparation()
        let task = start { result in
            core.loop.execute { core.stages.finished(preparation, result, handle, nextStage, upTo: end) }
        }
        handle.enter(.preparing(preparation, task))
        core.limit(handle)
    }

    private static func task(
        _ work: @escaping @Sendable () async throws(HTTPError) -> HTTPRequestHead,
        _ finish: @escaping @Sendable (Result<HTTPRequestHead, HTTPError>) -> Void
    ) -> Task<Void, Never> {
        Task {
            do throws(HTTPError) {
                finish(.success(try await work()))
            } catch {
                finish(.failure(error))
            }
        }
    }

    private func finished(
        _ preparation: StagePreparation,
        _ result: Result<HTTPRequestHead, HTTPError>,
        _ handle: RequestHandle,
        _ nextStage: Int,
        upTo end: Int
    ) {
        // It may have been paused or have ended meanwhile.
        guard case .preparing(let current, _) = handle.run.state, current === preparation else { return }
        handle.enter(.queued)
        switch result {
        case .success(let head): prepare(handle, .init(head: head, nextStage: nextStage), upTo: end)
        case .failure(let error): core.fail(handle, error)
        }
    }

    /// Returns the head of an attempt that is starting.
    ///
    /// - Parameters:
    ///   - handle: The request.
    ///   - endpoint: The endpoint of its connection; nil for the user's transport.
    /// - Returns: The head, completed by all stages; with the absolute URL for a proxy that forwards requests.
    func head(of handle: RequestHandle, to endpoint: Endpoint?) -> HTTPRequestHead {
        let extras = handle.run.extras
        let isUnchanged =
            extras?.receiver == nil && extras?.preparedHead == nil && endpoint?.proxy == nil && !hasFurtherStages
            && cookies?.mayAdd(to: handle) != true && caching == nil
        guard !isUnchanged || handle.current.login != nil else { return handle.current.head }
        var head = completedHead(of: handle)
        guard let endpoint, endpoint.proxy != nil, endpoint.isForwarded else { return head }
        head.uri = handle.current.url.absolute(head.uri)
        return head
    }

    /// Returns the head of an attempt after all stages that were not called for it yet.
    private func completedHead(of handle: RequestHandle) -> HTTPRequestHead {
        let prepared = handle.run.extras?.preparedHead
        handle.run.extras?.preparedHead = nil
        var head = prepared?.head ?? handle.current.head
        for stage in stages[(prepared?.nextStage ?? 0)...] {
            if case .ready = stage.willSend(&head, handle) { continue }
            preconditionFailure("a stage that defers must return true from mayDefer(_:)")
        }
        caching?.willSend(&head, handle)
        return head
    }

    /// Adds the cookies that a request would be sent with.
    func addCookies(to head: inout HTTPRequestHead, _ handle: RequestHandle) { _ = cookies?.willSend(&head, handle) }

    // MARK: After a response was received

    /// Decides from the head of a response where its body is delivered: the first stage that does not proceed decides.
    func received(_ head: HTTPResponseHead, _ handle: RequestHandle) -> HeadDecision {
        handle.run.extras?.following?.isHeldBack = false
        guard readsEveryHead || head.status.code >= 300 else { return .proceed }
        if let decision = validation?.received(head, handle), decision != .proceed {
            return decided(decision, handle)
        }
        let isAccepted = validation?.accepts(handle) ?? true
        if isAccepted { cookies?.store(head, handle) }
        if let decision = caching?.received(head, handle, mayStore: isAccepted), decision != .proceed {
            return decision
        }
        return receivedStored(head, handle)
    }

    /// Records that a stage withholds the body of a response from its receiver.
    private func decided(_ decision: HeadDecision, _ handle: RequestHandle) -> HeadDecision {
        if case .withhold = decision { handle.following.isHeldBack = handle.run.extras?.receiver != nil }
        return decision
    }

    /// Stores what belongs to a response whose acceptance was decided after its head was received.
    func storeChecked(_ head: HTTPResponseHead, _ handle: RequestHandle) {
        cookies?.store(head, handle)
        // A response that may be stored has passed without being stored.
        if handle.run.extras?.caching == nil { _ = caching?.received(head, handle, mayStore: true) }
    }

    /// Decides from the head of a response of the cache where its body is delivered.
    func receivedStored(_ head: HTTPResponseHead, _ handle: RequestHandle) -> HeadDecision {
        guard head.status.code >= 300 || hasFurtherStages else { return .proceed }
        for stage in stages {
            let decision = stage.received(head, handle)
            guard decision != .proceed else { continue }
            return decided(decision, handle)
        }
        return .proceed
    }

    /// Stores the cookies of a response that is not passed to ``received(_:_:)``, because it ends the exchange of messages.
    func storeCookies(of head: HTTPResponseHead, _ handle: RequestHandle) {
        _ = validation?.received(head, handle)
        if validation?.accepts(handle) ?? true { cookies?.store(head, handle) }
    }

    /// Returns the closures that receive a response's body as it arrives; nil for none.
    func bodyTaps(_ head: HTTPResponseHead, _ handle: RequestHandle) -> [BodyTap]? {
        guard hasFurtherStages || caching != nil else { return nil }
        let taps = stages.compactMap { $0.bodyTap(head, handle) } + [caching?.bodyTap(handle)].compactMap(\.self)
        return taps.isEmpty ? nil : taps
    }

    /// Decides what follows a complete response: the first stage that does not proceed decides.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - handle: The request.
    ///   - deferring: The stage that has deferred its decision, whose successors are called; nil for all stages.
    /// - Returns: The decision.
    func completed(
        _ response: DataResponse,
        _ handle: RequestHandle,
        after deferring: (any ExchangeStage)? = nil
    ) -> ResponseDecision {
        if deferring == nil, let decision = validation?.completed(response, handle) {
            guard case .proceed = decision else { return decision }
        }
        if deferring == nil || deferring === validation, let decision = caching?.completed(handle) {
            guard case .proceed = decision else { return decision }
        }
        let isPlain = response.status < 300 && !hasFurtherStages && handle.run.extras?.wantsRestart != true
        guard !isPlain || handle.current.login != nil else { return .end }
        let start = deferring.flatMap { stage in stages.firstIndex { $0 === stage } }.map { $0 + 1 } ?? 0
        for stage in stages[start...] {
            let decision = stage.completed(response, handle)
            if case .proceed = decision { continue }
            return decision
        }
        return .end
    }

    /// Notifies the stages that a request has ended.
    func ended(_ handle: RequestHandle, _ error: HTTPError?) {
        guard hasFurtherStages else { return }
        for stage in stages { stage.ended(error, handle) }
    }
}

/// Identifies the deferred work of a stage for one attempt.
final class StagePreparation: Sendable {}

/// The head of an attempt after the first stages.
struct PreparedHead {
    var head: HTTPRequestHead
    /// The index of the first stage that was not called yet.
    var nextStage: Int
}

extension HeadDecision {
    /// Whether the body is not delivered to its receiver.
    var withholdsBody: Bool {
        switch self {
        case .proceed, .expectResend: false
        case .withhold, .discard: true
        }
    }

    /// Whether another request most likely follows, whatever the body contains.
    var isLikelyResent: Bool {
        switch self {
        case .expectResend: true
        case .withhold(let isLikelyResent): isLikelyResent
        case .proceed, .discard: false
        }
    }

    /// Whether the body is only worth a short wait, because another request follows or most likely does.
    var stopsWaiting: Bool { self == .discard || isLikelyResent }
}

extension ResponseDecision {
    /// Whether the response ends the request.
    var isEnd: Bool {
        switch self {
        case .end, .proceed: true
        case .resend, .deferred, .fail: false
        }
    }
}
