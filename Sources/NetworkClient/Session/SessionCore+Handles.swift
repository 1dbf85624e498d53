import Locking
import NIOCore

extension SessionCore {
    /// A handle for a request, to be started; one that has failed already if the request can't be sent.
    func handle(for request: PreparedRequest) -> RequestHandle {
        let handle = RequestHandle(id: registry.withLock { $0.number() }, request, core: self)
        if let flaw = request.flaw {
            handle.fail(with: flaw)
        } else if registry.withLock({ $0.add(handle) }) == false {
            let reason = "the session was invalidated: make a new one"
            handle.fail(with: .init(.sessionInvalidated, .neverSent, reason))
        }
        return handle
    }
}

extension RequestHandle {
    /// Ends it before anybody else has it, so that nothing that is done to it later starts it.
    fileprivate func fail(with error: HTTPError) {
        _ = run.life.cancel()
        end(.failure(error))
    }

    /// A request like this one, not started, whatever has become of this one.
    ///
    /// What its server made of it, a redirect or credentials, is not copied. A body that can be read once is shared: who
    /// reads it second fails with ``HTTPError/Code/bodyNotReplayable``.
    ///
    /// - Returns: The copy.
    public func copy() -> RequestHandle { core.handle(for: request) }
}
