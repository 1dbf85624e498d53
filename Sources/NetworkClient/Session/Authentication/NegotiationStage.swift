import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Responds to challenges for Negotiate by origins (401) and forwarding proxies (407), and verifies the origin's last
/// token (RFC 4559).
///
/// A mechanism that needs several tokens authenticates a connection: it is reserved for the request meanwhile. Unchecked,
/// because it is confined to the session's event loop.
final class NegotiationStage: ExchangeStage, @unchecked Sendable {
    private unowned let core: SessionCore
    private let mechanism: any SecurityMechanism
    private let origins: Set<HTTPOrigin>
    /// The exchanges of tokens of the requests that are running.
    private var negotiations: [NegotiationKey: Negotiation] = [:]
    /// The origins that have accepted a token: later requests to them carry one from the beginning.
    private var accepting: Set<HTTPOrigin> = []
    /// The requests whose first token is obtained before they wait for a connection.
    private var beginning: Set<UInt64> = []

    init(_ mechanism: any SecurityMechanism, _ origins: Set<HTTPOrigin>, _ core: SessionCore) {
        self.core = core
        self.mechanism = mechanism
        self.origins = origins
    }

    // MARK: Before a request is sent

    func mayDefer(_ request: RequestHandle) -> Bool {
        let origin = request.current.url.origin
        guard accepting.contains(origin), applies(.origin, request) else { return false }
        guard negotiations[.init(request, .origin)]?.token == nil else { return false }
        beginning.insert(request.id)
        return true
    }

    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
        for role in [NegotiationRole.origin, .proxy] { addToken(to: &head, role, request) }
        guard beginning.remove(request.id) != nil else { return .ready }
        let (core, head, origin) = (core, head, request.current.url.origin)
        let context = mechanism.makeContext(for: origin.host)
        return .deferred { [self] () async throws(HTTPError) in
            // Without a token, the server's challenge decides.
            guard let step = try? await context.step(nil), let token = step.token else { return head }
            let key = NegotiationKey(request, .origin)
            try? await core.loop.submit {
                // A request that has ended meanwhile would never be forgotten.
                guard case .preparing = request.run.state else { return }
                self.negotiations[key] = .init(context, at: origin, isPreemptive: true, isComplete: step.isComplete)
            }.get()
            var changed = head
            changed.headers.replaceOrAdd(name: NegotiationRole.origin.field, value: NegotiateField.value(token))
            return changed
        }
    }

    /// Adds the token that is ready for an attempt; each is sent once.
    private func addToken(to head: inout HTTPRequestHead, _ role: NegotiationRole, _ request: RequestHandle) {
        let key = NegotiationKey(request, role)
        guard let negotiation = negotiations[key], let token = negotiation.token else { return }
        guard role == .proxy || negotiation.origin == request.current.url.origin else { return forget(key) }
        head.headers.replaceOrAdd(name: role.field, value: NegotiateField.value(token))
        negotiations[key]?.token = nil
    }

    // MARK: The head of a response

    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
        guard let role = NegotiationRole(status: Int(head.status.code)), applies(role, request),
            let challenge = NegotiateField.challenge(in: head.headers[role.challengeField])
        else { return .proceed }
        let key = NegotiationKey(request, role)
        guard let negotiation = negotiations[key] else { return role.resent }
        if challenge.token68 == nil { return negotiation.isPreemptive ? role.resent : .proceed }
        if case .exchanging(let exchange) = request.run.state {
            negotiations[key]?.reservation = exchange.reserveConnection(for: request)
        }
        return role.resent
    }

    // MARK: A whole response

    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        let role = NegotiationRole(status: response.status)
        // The proxy has accepted its token, or asks for none.
        if role != .proxy { forget(.init(request, .proxy)) }
        guard let role else { return verify(response, request) }
        let key = NegotiationKey(request, role)
        let challenge = NegotiateField.challenge(in: response[role.challengeField])
        guard applies(role, request), let challenge else {
            forget(key)
            return .proceed
        }
        return answer(challenge, key, request, response)
    }

    /// Responds to a challenge, unless the server has refused the tokens of this request.
    private func answer(
        _ challenge: AuthenticationChallenge,
        _ key: NegotiationKey,
        _ request: RequestHandle,
        _ response: DataResponse
    ) -> ResponseDecision {
        let token = NegotiateField.token(of: challenge)
        var negotiation = negotiations[key]
        if let current = negotiation, token == nil || !current.maySendMore {
            forget(key)
            guard current.isPreemptive else { return .proceed }
            negotiation = nil
        }
        let host = key.role == .proxy ? request.endpoint.proxy?.host : nil
        let context = negotiation?.context ?? mechanism.makeContext(for: host ?? request.current.url.host)
        negotiations[key] = negotiation ?? Negotiation(context, at: request.current.url.origin, isPreemptive: false)
        step(context, negotiation == nil ? nil : token, request) { [self] result in
            core.finishDeferral(request, response, of: self, with: decision(on: result, key, request, response))
        }
        return .deferred
    }

    private func decision(
        on result: Result<SecurityStep, any Error>,
        _ key: NegotiationKey,
        _ request: RequestHandle,
        _ response: DataResponse
    ) -> ResponseDecision {
        switch result {
        case .success(let step):
            guard let token = step.token else {
                forget(key)
                return .proceed
            }
            negotiations[key]?.send(token, isComplete: step.isComplete)
            if core.events.isObserved(request) {
                core.events.tell(.authenticating(scheme: "negotiate", realm: nil), request)
            }
            return .resend(request.current.copy)
        case .failure(let cause):
            forget(key)
            if key.role == .origin, hasAlternative(response, request) { return .proceed }
            return .fail(key.role.error(cause, request, response))
        }
    }

    /// Whether another scheme may authenticate the request.
    private func hasAlternative(_ response: DataResponse, _ request: RequestHandle) -> Bool {
        let challenges = ChallengeParser.challenges(in: response["WWW-Authenticate"])
        guard let login = request.current.login, !ChallengeTrail.ranked(challenges).isEmpty else { return false }
        return core.authenticator.canAuthenticate(login, request)
    }

    // MARK: The server's proof

    /// Verifies the last token of the origin, which proves its identity.
    private func verify(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        let key = NegotiationKey(request, .origin)
        guard let negotiation = negotiations[key], negotiation.origin == request.current.url.origin else {
            return .proceed
        }
        let token = NegotiateField.token(of: NegotiateField.challenge(in: response["WWW-Authenticate"]))
        guard let token, !negotiation.isComplete else {
            return concluded(negotiation.isComplete, key, request, response)
        }
        step(negotiation.context, token, request) { [self] result in
            let decision =
                switch result {
                case .success(let step): concluded(step.isComplete, key, request, response)
                case .failure(let cause):
                    ResponseDecision.fail(
                        unverified(": \("\(cause)".printable(upTo: 1_000))", request, response, cause)
                    )
                }
            core.finishDeferral(request, response, of: self, with: decision)
        }
        return .deferred
    }

    /// Decides about a response after the exchange of tokens with the origin.
    private func concluded(
        _ isVerified: Bool,
        _ key: NegotiationKey,
        _ request: RequestHandle,
        _ response: DataResponse
    ) -> ResponseDecision {
        forget(key)
        if isVerified || response.status < 400 { accepting.insert(request.current.url.origin) }
        guard mechanism.requiresMutualAuthentication, !isVerified, response.status < 400 else { return .proceed }
        return .fail(unverified(", as it sent no token of its own", request, response, nil))
    }

    /// Returns the error of a request whose server has not proved its identity.
    private func unverified(
        _ why: String,
        _ handle: RequestHandle,
        _ response: DataResponse,
        _ cause: (any Error)?
    ) -> HTTPError {
        let server = handle.current.endpoint.text
        let reason = "\(server) did not prove its identity after authentication by Negotiate\(why)"
        var error = HTTPError(.authenticationFailed, processing: .answered, reason: reason, cause: cause)
        error.add(response, of: handle)
        return error
    }

    func ended(_ error: HTTPError?, _ request: RequestHandle) {
        beginning.remove(request.id)
        guard !negotiations.isEmpty else { return }
        for role in [NegotiationRole.origin, .proxy] { forget(.init(request, role)) }
    }

    // MARK: The exchange of tokens

    /// Returns whether challenges of a kind are responded to for a request.
    private func applies(_ role: NegotiationRole, _ request: RequestHandle) -> Bool {
        // A user's transport makes its own connections.
        guard core.configuration.transport == nil || role == .origin else { return false }
        switch role {
        case .proxy:
            guard mechanism.includesProxies, let proxy = request.endpoint.proxy else { return false }
            return request.endpoint.isForwarded && proxy.user == nil
        case .origin:
            let origin = request.current.url.origin
            guard origins.contains(origin), let login = request.current.login else { return false }
            return login.own == nil && core.authenticator.tokens[origin] == nil
        }
    }

    /// Calls the mechanism off the event loop, and the closure on it, unless the request has ended meanwhile.
    private func step(
        _ context: any SecurityContext,
        _ token: [UInt8]?,
        _ request: RequestHandle,
        then next: @escaping (Result<SecurityStep, any Error>) -> Void
    ) {
        let loop = core.loop
        let next = NIOLoopBound(next, eventLoop: loop)
        Task {
            let result: Result<SecurityStep, any Error>
            do {
                result = .success(try await context.step(token))
            } catch {
                result = .failure(error)
            }
            loop.execute { if request.run.isDeciding { next.value(result) } }
        }
    }

    private func forget(_ key: NegotiationKey) {
        guard let ended = negotiations.removeValue(forKey: key) else { return }
        ended.reservation?.cancelReservation(of: key.request)
    }
}

/// The exchange of tokens of a request with its origin or proxy.
private struct Negotiation {
    let context: any SecurityContext
    /// The origin of the request; for a proxy, the one to which the request was being sent.
    let origin: HTTPOrigin
    /// Whether it began before the origin had asked for it.
    let isPreemptive: Bool
    /// The token that the next attempt sends; nil if it was sent.
    var token: [UInt8]?
    /// The number of tokens so far.
    var sent = 0
    /// Whether the client needs no further token.
    var isComplete = false
    /// The connections of which one is reserved for the next token; nil for none.
    var reservation: HostConnections?

    init(_ context: any SecurityContext, at origin: HTTPOrigin, isPreemptive: Bool, isComplete: Bool = false) {
        self.context = context
        self.origin = origin
        self.isPreemptive = isPreemptive
        self.isComplete = isComplete
        if isPreemptive { sent = 1 }
    }

    /// Whether the client may send a further token.
    var maySendMore: Bool { !isComplete && sent < NegotiateField.maximumTokens }

    mutating func send(_ token: [UInt8], isComplete: Bool) {
        self.token = token
        self.isComplete = isComplete
        sent += 1
    }
}

/// Identifies the exchange of tokens of a request with its origin or proxy.
private struct NegotiationKey: Hashable {
    let request: UInt64
    let role: NegotiationRole

    init(_ request: RequestHandle, _ role: NegotiationRole) {
        self.request = request.id
        self.role = role
    }
}

/// The server that requires authentication: the origin, or a proxy that forwards requests.
private enum NegotiationRole: Hashable {
    case origin
    case proxy

    /// The server that responds with a status; nil if it is no challenge.
    init?(status: Int) {
        switch status {
        case 401: self = .origin
        case 407: self = .proxy
        default: return nil
        }
    }

    /// The field with the tokens of the client.
    var field: String { self == .origin ? "Authorization" : "Proxy-Authorization" }

    /// The field with the challenges and tokens of the server.
    var challengeField: String { self == .origin ? "WWW-Authenticate" : "Proxy-Authenticate" }

    /// The decision on the body of a response to which another request follows.
    var resent: HeadDecision { self == .origin ? .withhold(isLikelyResent: true) : .expectResend }
}

extension NegotiationRole {
    /// Returns the error of a request for which the mechanism has no token.
    fileprivate func error(_ cause: any Error, _ handle: RequestHandle, _ response: DataResponse) -> HTTPError {
        let proxy = self == .proxy ? handle.endpoint.proxy : nil
        var error = HTTPError.negotiationFailed(
            proxy == nil ? .authenticationFailed : .proxyAuthenticationRequired,
            proxy.map { "the proxy \($0)" } ?? handle.current.endpoint.text,
            proxy == nil ? .answered : .refusedUnprocessed,
            cause
        )
        error.proxy = proxy?.description
        error.add(response, of: handle)
        return error
    }
}
