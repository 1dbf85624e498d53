import Locking
import NIOCore

/// The live requests of a session, and whether it takes more.
struct Registry {
    private(set) var live: [UInt64: RequestHandle] = [:]
    private var last: UInt64 = 0
    private(set) var state = State.open

    enum State: Sendable {
        case open
        /// No request is taken any more; some may still run.
        case closing
        /// All have ended, and it was told.
        case closed
    }

    /// The next request's number.
    mutating func number() -> UInt64 {
        last += 1
        return last
    }

    /// Adds a request; whether the session takes any.
    mutating func add(_ handle: RequestHandle) -> Bool {
        guard state == .open else { return false }
        live[handle.id] = handle
        return true
    }

    /// Removes one; whether it was the last of a session that takes no more.
    mutating func remove(_ handle: RequestHandle) -> Bool {
        live[handle.id] = nil
        return state == .closing && live.isEmpty
    }

    /// Takes no more; those that still run, and whether this is new.
    mutating func close() -> (isNew: Bool, running: [RequestHandle]) {
        let isNew = state == .open
        if isNew { state = .closing }
        return (isNew, live.values.sorted { $0.id < $1.id })
    }

    /// Whether the end is to be told now.
    mutating func announce() -> Bool {
        guard state == .closing, live.isEmpty else { return false }
        state = .closed
        return true
    }
}

extension SessionCore {
    /// A handle for a request, to be started; one that has failed already if the request can't be sent.
    func handle<Handle: RequestHandle>(for request: PreparedRequest) -> Handle {
        let handle = Handle(id: registry.withLock { $0.number() }, request, core: self)
        if let flaw = request.flaw {
            handle.fail(with: flaw)
        } else if registry.withLock({ $0.add(handle) }) == false {
            let reason = "the session was invalidated: make a new one"
            handle.fail(with: .init(.sessionInvalidated, processing: .neverSent, reason: reason))
        }
        return handle
    }
}

extension RequestHandle {
    /// Ends it before anybody else has it, so that nothing that is done to it later starts it.
    fileprivate func fail(with error: HTTPError) {
        endUnstarted(.failure(error))
    }

    /// A request like this one, not started, whatever has become of this one.
    ///
    /// What its server made of it, a redirect or credentials, is not copied. A body that can be read once is shared: the
    /// request that reads it second fails with ``HTTPError/Code/bodyNotReplayable``.
    ///
    /// - Returns: The copy, which is of the same kind.
    public final func copy() -> Self { core.handle(for: request) }
}
