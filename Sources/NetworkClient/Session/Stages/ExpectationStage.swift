import NIOHTTP1

/// Sends a request without `Expect` to a server that refuses it (417; RFC 9110, 10.1.1).
final class ExpectationStage: ExchangeStage {
    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
        isRefused(Int(head.status.code), request) ? .withhold(isLikelyResent: true) : .proceed
    }

    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        guard isRefused(response.status, request) else { return .proceed }
        return .resend(request.current.copy.withoutExpectation)
    }

    private func isRefused(_ status: Int, _ request: RequestHandle) -> Bool {
        status == 417 && request.current.expectsContinue && request.current.hasBody && request.canGoAgain
    }
}

extension PreparedRequest {
    /// The same request, whose body does not wait for the server's 100.
    fileprivate var withoutExpectation: Self {
        var next = self
        next.expectsContinue = false
        next.head.headers.remove(name: "Expect")
        return next
    }
}
