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
