import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Answers that lead elsewhere: their bodies are nobody's.
extension ConnectionHandler {
    /// So much is read of such a body, in bytes, to keep the connection; with more to come, it is closed.
    private static let drained = 65_536

    /// Decides what follows an answer, if its head alone says so, and keeps it from whoever takes the body.
    ///
    /// - Returns: Whether the body is kept from the receiver.
    func passesOver(_ head: HTTPResponseHead, _ handle: RequestHandle) -> Bool {
        guard host.core.passesOver(head, handle) else { return false }
        if RedirectRules.isRedirect(Int(head.status.code)) {
            exchange?.isPassedOver = true
            exchange?.assembly.limit = Self.drained
        }
        return true
    }

    /// How long such a body may take, and how long nothing may come of one that another request most likely follows.
    private static let grace = Duration.seconds(2)

    /// Whether the body is read for the connection's sake, as long as it comes promptly.
    var hasShortGrace: Bool { exchange.map { $0.isPassedOver || $0.isLikelyFollowed } ?? false }

    /// How long nothing of the response may come.
    var readLimit: Duration? {
        let limit = exchange?.handle.current.limits.read
        return hasShortGrace ? min(limit ?? Self.grace, Self.grace) : limit
    }

    /// Sets the moment by which more of the response must have come.
    func watchReading(_ now: NIODeadline) {
        deadlines[.read] = due(readLimit, now)
        arm(now)
    }

    /// Goes on without the rest of a body that does not come; if nothing follows the response after all, that is an error.
    func leaveLikelyFollowed() {
        guard let exchange, let head = exchange.head else { return close() }
        var error = HTTPError.timedOut(.read, after: readLimit, at: exchange.handle.current.endpoint.text)
        error.response = .init(head)
        error.body = exchange.assembly.prefix(HTTPError.keptBody)
        exchange.handle.following.missingBody = error
        leavePassedOver()
    }

    /// Goes on without the rest of such a body.
    func leavePassedOver() {
        guard let exchange, let head = exchange.head else { return close() }
        let handle = exchange.handle
        handle.run.metrics.end = .now()
        let response = DataResponse(
            http1: head,
            buffer: ByteBuffer(),
            metrics: handle.run.metrics,
            address: handle.current.url
        )
        handle.run.place = .nowhere
        close()
        host.core.answered(handle, response)
    }
}

extension SessionCore {
    /// Decides what follows an answer, if its head alone says so.
    ///
    /// - Returns: Whether whoever takes the body does not get this one, or not before it is known what follows.
    func passesOver(_ head: HTTPResponseHead, _ handle: RequestHandle) -> Bool {
        let status = Int(head.status.code)
        if RedirectRules.isRedirect(status), handle.current.policy.redirects.follows {
            let followUp = redirect(handle, head)
            handle.following.decided = followUp
            if case .end = followUp { return false }
            return true
        }
        let isChallenge = status == 401 && handle.current.login != nil
        guard isChallenge || handle.mayGoWithoutExpectation(status) else { return false }
        handle.following.isHeldBack = handle.run.extras?.receiver != nil
        return true
    }

    /// Whether another request most likely follows a response, whatever its body says: the first challenge to a request
    /// for which there are credentials, and a refusal of `Expect`.
    func isLikelyFollowed(_ head: HTTPResponseHead, _ handle: RequestHandle) -> Bool {
        switch head.status.code {
        case 401:
            let hasAnswered = handle.run.extras?.following.map { $0.made != nil || $0.renewed != nil } ?? false
            return !hasAnswered && handle.current.login.map { authenticator.mayAnswer($0, handle) } ?? false
        case 407: return handle.endpoint.isForwarded && handle.run.extras?.proxyChallenges ?? 0 == 0
        case 417: return handle.mayGoWithoutExpectation(417)
        default: return false
        }
    }

    /// An answer that was kept from its receiver is the request's all the same.
    func deliver(_ handle: RequestHandle, _ response: DataResponse) {
        handle.run.extras?.following?.isHeldBack = false
        guard let receiver = handle.run.extras?.receiver else { return end(handle, .success(response)) }
        do throws(HTTPError) {
            switch try receiver.begin(response.http1) {
            case .memory, .again: return end(handle, .success(response))
            case .whole: break
            case .here:
                let taken = try receiver.receive(response.buffer)
                if let taken { return finish(handle, response, after: taken) { receiver.end() } }
            }
            guard let kept = receiver.end() else { return end(handle, .success(response)) }
            finish(handle, response, after: kept) { nil }
        } catch {
            end(handle, .failure(error))
        }
    }

    private func finish(
        _ handle: RequestHandle,
        _ response: DataResponse,
        after kept: EventLoopFuture<Void>,
        then next: @escaping () -> EventLoopFuture<Void>?
    ) {
        kept.assumeIsolated().whenComplete { [self] result in
            if case .failure(let error) = result { return end(handle, .failure(.unkeptBody(error))) }
            guard let last = next() else { return end(handle, .success(response)) }
            finish(handle, response, after: last) { nil }
        }
    }
}
