import NIOHTTP1

/// Sends the credentials of a request to its origin, and responds to challenges (401; RFC 9110, 11.6).
final class AuthenticationStage: ExchangeStage {
    private unowned let core: SessionCore

    init(_ core: SessionCore) { self.core = core }

    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
        guard let login = request.current.login, !NegotiateField.isIn(head) else { return .ready }
        core.authenticator.willSend(&head, request, login)
        return .ready
    }

    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
        guard head.status.code == 401, let login = request.current.login else { return .proceed }
        let hasResponded = request.run.extras?.following.map { $0.made != nil || $0.renewed != nil } ?? false
        return .withhold(isLikelyResent: !hasResponded && core.authenticator.canAuthenticate(login, request))
    }

    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        guard let login = request.current.login else { return .proceed }
        if response.status == 401 { return core.authenticator.challenged(request, response, login) }
        core.authenticator.succeeded(request, response.http1)
        return .proceed
    }
}
