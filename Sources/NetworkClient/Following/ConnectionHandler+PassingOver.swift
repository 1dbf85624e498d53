import NIOCore
import NIOHTTP1

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
