import NIOHTTP1

/// Resends a request without `Expect` if the server refuses that field (417; RFC 9110, 10.1.1).
final class ExpectationStage: ExchangeStage {
    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
        isRefused(Int(head.status.code), request) ? .withhold(isLikelyResent: true) : .proceed
    }

    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        guard isRefused(response.status, request) else { return .proceed }
        return .resend(request.current.copy.withoutExpectation)
    }

    private func isRefused(_ status: Int, _ request: RequestHandle) -> Bool {
        status == 417 && request.current.expectsContinue && request.current.hasBody && request.canResend
    }
}

extension PreparedRequest {
    /// The request without `Expect`: its body does not wait for a 100 (Continue) response.
    fileprivate var withoutExpectation: Self {
        var next = self
        next.expectsContinue = false
        next.head.headers.remove(name: "Expect")
        return next
    }
}
