import Locking
import NIOCore

/// The time limit for the body of a response with an error status.
///
/// An event stream may be silent for any time, so its request has no read timeout. The body of an error has this one instead.
///
/// Unchecked, because the timer is used on the session's event loop only.
final class ErrorBodyDeadline: @unchecked Sendable {
    private let exceeded = Lock<HTTPResponse?>(nil)
    private var timer: Scheduled<Void>?
    /// The head of the response whose body is being received, if its status is an error.
    private var head: HTTPResponse?

    /// The head of the response whose body exceeded the limit, after which the request was cancelled; nil for none.
    var exceededBy: HTTPResponse? { exceeded.withLock { $0 } }

    /// Begins to watch a request, which has not been started.
    func watch(_ handle: RequestHandle) {
        handle.listen { [self, weak handle] event in
            guard let handle else { return }
            observe(event, handle)
        }
    }

    private func observe(_ event: RequestEvent, _ handle: RequestHandle) {
        switch event {
        case .sending, .sent, .received, .resumedDownload: return
        case .head(let received): head = (200...299).contains(received.status.code) ? nil : received
        case .paused, .resumed: break
        default: head = nil
        }
        timer?.cancel()
        timer = nil
        if case .paused = event { return }
        guard let head else { return }
        let core = handle.core
        let limit = core.configuration.fixedLimits.errorBody
        timer = core.loop.assumeIsolated().scheduleTask(in: .init(limit)) { [self] in end(handle, head) }
    }

    /// Cancels the request if the body is still being received.
    private func end(_ handle: RequestHandle, _ head: HTTPResponse) {
        timer = nil
        switch handle.run.state {
        case .exchanging, .carried:
            exceeded.withLock { $0 = head }
            handle.core.cancel(handle)
        default: break
        }
    }
}
