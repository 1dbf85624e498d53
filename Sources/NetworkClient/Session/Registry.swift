import Locking
import NIOCore

/// The unfinished requests of a session, and whether it accepts more.
struct Registry {
    private(set) var live: [UInt64: RequestHandle] = [:]
    private var last: UInt64 = 0
    private(set) var state = State.open

    enum State: Sendable {
        case open
        /// No more requests are accepted; some may still run.
        case closing
        /// All requests have finished, and the monitors were informed.
        case closed
    }

    /// Returns the number of the next request.
    mutating func number() -> UInt64 {
        last += 1
        return last
    }

    /// Adds a request; returns whether the session accepts requests.
    mutating func add(_ handle: RequestHandle) -> Bool {
        guard state == .open else { return false }
        live[handle.id] = handle
        return true
    }

    /// Removes a request; returns whether it was the last one of a closing session.
    mutating func remove(_ handle: RequestHandle) -> Bool {
        live[handle.id] = nil
        return state == .closing && live.isEmpty
    }

    /// Stops accepting requests; returns whether it accepted them before, and the unfinished ones.
    mutating func close() -> (isNew: Bool, running: [RequestHandle]) {
        let isNew = state == .open
        if isNew { state = .closing }
        return (isNew, live.values.sorted { $0.id < $1.id })
    }

    /// Marks a closing session without requests as closed; returns whether the monitors have to be informed now.
    mutating func announce() -> Bool {
        guard state == .closing, live.isEmpty else { return false }
        state = .closed
        return true
    }
}

extension SessionCore {
    /// Creates the handle of a request, which has already failed if the request can't be sent.
    func handle<Handle: RequestHandle>(for request: consuming PreparedRequest) -> Handle {
        let handle = Handle(id: registry.withLock { $0.number() }, request, core: self)
        if let flaw = handle.request.flaw {
            handle.failUnstarted(flaw)
        } else if registry.withLock({ $0.add(handle) }) == false {
            let reason = "the session was invalidated: make a new one"
            handle.failUnstarted(.init(.sessionInvalidated, processing: .neverSent, reason: reason))
        } else {
            events.requestWasMade(handle)
        }
        return handle
    }
}

extension RequestHandle {
    /// Creates a copy of the request, whatever its state, and does not start it.
    ///
    /// The copy has the original URL, without redirects and added credentials. A body that can be read only once is
    /// shared: the request that reads it second fails with ``HTTPError/Code/bodyNotReplayable``.
    ///
    /// - Returns: The copy, of the same kind.
    public final func copy() -> Self { core.handle(for: request) }
}
