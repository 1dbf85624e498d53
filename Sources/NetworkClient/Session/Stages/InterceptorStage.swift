import NIOHTTP1

/// Calls the user's interceptors, which may change each attempt before credentials are added.
final class InterceptorStage: ExchangeStage {
    func mayDefer(_ request: RequestHandle) -> Bool { request.current.policy.interceptors != nil }

    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
        guard let interceptors = request.current.policy.interceptors else { return .ready }
        let number = request.run.history.count + 1
        let attempt = RequestAttempt(request: request, number: number, buffer: request.current.body)
        let (unchanged, url) = (head, request.current.url)
        if let hook = interceptors.hook {
            let isSameOrigin = url.origin == request.request.url.origin
            return .awaiting { finish in
                hook.prepare(attempt, isSameOrigin: isSameOrigin) { finish(unchanged.adding($0)) }
            }
        }
        return .deferred { () async throws(HTTPError) in
            try await interceptors.adapt(unchanged, at: url, for: attempt)
        }
    }
}
