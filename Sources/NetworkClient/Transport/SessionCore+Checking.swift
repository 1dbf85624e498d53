import NIOCore
import NIOPosix

/// One look at a request's body, to be told from those before and after it.
final class BodyCheck: Sendable {}

extension SessionCore {
    /// Sees, away from the loop, whether a request's body can still be sent: a file may be on a disk that hangs.
    func check(_ handle: RequestHandle, _ check: @escaping BodySource.Check) {
        let token = BodyCheck()
        handle.run.place = .checking(token)
        limit(handle)
        NIOThreadPool.singleton.runIfActive(eventLoop: loop, check).assumeIsolated().whenComplete { [self] result in
            // It was paused or has ended meanwhile.
            guard case .checking(let current) = handle.run.place, current === token else { return }
            handle.run.place = .nowhere
            switch result {
            case .success: send(handle)
            case .failure(let error): fail(handle, .unavailableBody(error, .neverSent))
            }
        }
    }
}
