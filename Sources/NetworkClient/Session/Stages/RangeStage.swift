import NIOHTTP1

/// Requests the missing part of a file, and then the whole file if the server's part does not match.
final class RangeStage: ExchangeStage {
    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
        // An earlier attempt may have set it, and then have failed.
        request.run.extras?.wantsRestart = false
        request.run.extras?.receiver?.willSend(&head)
        return .ready
    }

    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        guard let extras = request.run.extras, extras.wantsRestart else { return .proceed }
        extras.wantsRestart = false
        return .resend(request.current.copy)
    }
}
