/// Which connection to one endpoint serves which request, and when another is opened.
///
/// Requests and connections are numbers here; who holds the pool knows what they stand for. A connection that is being
/// opened belongs to no request: whichever connection is free first serves the one that has waited longest.
public struct HostPool: Sendable, Hashable {
    /// A request.
    public typealias RequestID = UInt64
    /// A connection, from the moment at which it is asked for.
    public typealias ConnectionID = Int

    /// How many connections there may be at once.
    public let limit: Int
    /// The open connections, by number: how many exchanges each carries, and how many more it can.
    private var slots: [Slots?] = []
    private var openCount = 0
    /// Connections with a free slot; the last one used is taken first, so that others can grow old and close.
    private var available: [ConnectionID] = []
    private(set) var opening: Set<ConnectionID> = []
    private(set) var waiting = WaitingLine() {
        didSet { if waiting.isEmpty { shortageLimit = nil } }
    }
    /// How many connections there may be at once while descriptors are short; nil while they are not.
    private var shortageLimit: Int?

    private struct Slots: Sendable, Hashable {
        var free: Int
        var taken = 0
    }

    /// Makes an empty pool.
    ///
    /// - Parameter limit: How many connections there may be at once; at least one.
    public init(limit: Int) { self.limit = max(1, limit) }

    /// What to do next.
    public enum Action: Sendable, Hashable {
        /// Do nothing.
        case none
        /// Send a request on a connection.
        case use(ConnectionID, for: RequestID)
        /// Open a connection; say ``HostPool/opening(_:)`` under which number.
        case open
        /// Close connections that are idle.
        case close([ConnectionID])
        /// Give connections up that are being opened: nobody waits for them.
        case abandon([ConnectionID])
        /// Tell a request that it can't be served; then ask ``HostPool/next()``.
        case fail(RequestID)
    }

    /// Whether nothing is open, being opened or waiting.
    public var isEmpty: Bool { connectionCount == 0 && waiting.isEmpty }

    /// Whether a connection is being opened.
    public var isOpening: Bool { !opening.isEmpty }

    /// How many connections there are, those included that are being opened.
    public var connectionCount: Int { openCount + opening.count }

    /// A request wants a connection.
    public mutating func request(_ request: RequestID) -> Action {
        if let connection = takeSlot() { return .use(connection, for: request) }
        waiting.append(request)
        return next()
    }

    /// Serves a request that waits, or opens another connection; asked again after each ``Action/fail(_:)``, and after
    /// a connection with several slots was opened.
    public mutating func next() -> Action {
        if !available.isEmpty, let request = waiting.popFirst(), let connection = takeSlot() {
            return .use(connection, for: request)
        }
        return waiting.count > opening.count && connectionCount < shortageLimit ?? limit ? .open : .none
    }

    /// A connection is being opened, as ``Action/open`` asked.
    public mutating func opening(_ connection: ConnectionID) { opening.insert(connection) }

    /// A connection is open.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - count: How many exchanges it can carry at once.
    /// - Returns: What to do next; with several slots, ask ``next()`` for more.
    public mutating func opened(_ connection: ConnectionID, slots count: Int = 1) -> Action {
        guard opening.remove(connection) != nil else { return .close([connection]) }
        while slots.count <= connection { slots.append(nil) }
        slots[connection] = .init(free: count)
        openCount += 1
        return serve(connection)
    }

    /// A connection can't be opened: the one that has waited longest gets the error, unless others are being opened for
    /// it.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - isShortage: Whether the process has no descriptor for it. Then nobody gets the error as long as there are
    ///     other connections to wait for, and no more than these are opened; ask ``retryAfterShortage()`` once in a
    ///     while.
    /// - Returns: What to do next.
    public mutating func openingFailed(_ connection: ConnectionID, isShortage: Bool = false) -> Action {
        guard opening.remove(connection) != nil else { return .none }
        if isShortage, connectionCount > 0, !waiting.isEmpty {
            shortageLimit = connectionCount
            return .none
        }
        guard waiting.count > opening.count, let request = waiting.popFirst() else { return .none }
        return .fail(request)
    }

    /// Whether requests wait for connections because descriptors are short.
    public var isShort: Bool { shortageLimit != nil }

    /// Some time has passed since a connection could not be opened for want of a descriptor: one more is tried.
    public mutating func retryAfterShortage() -> Action {
        guard isShort else { return .none }
        shortageLimit = min(limit, connectionCount + 1)
        return next()
    }

    /// An exchange has ended, and its connection can carry another.
    public mutating func released(_ connection: ConnectionID) -> Action {
        guard isOpen(connection) else { return .none }
        slots[connection]?.taken -= 1
        slots[connection]?.free += 1
        return serve(connection)
    }

    /// A connection was closed, whatever it carried; nothing if it is not open.
    ///
    /// - Returns: What to do next.
    public mutating func closed(_ connection: ConnectionID) -> Action {
        guard isOpen(connection) else { return .none }
        forget(connection)
        return next()
    }

    /// A request that waits is wanted no more.
    public mutating func withdraw(_ request: RequestID) -> Action {
        guard waiting.remove(request) else { return .none }
        // One that goes away takes the connection along that would be opened for nobody.
        guard waiting.isEmpty, !opening.isEmpty else { return .none }
        defer { opening = [] }
        return .abandon(opening.sorted())
    }

    /// Takes all idle connections out, to close them: as after one that was lost, since the others are as old.
    public mutating func drain() -> Action {
        let idle = available.filter { slots[$0]?.taken == 0 }
        for connection in idle { forget(connection) }
        return idle.isEmpty ? .none : .close(idle)
    }

    private func isOpen(_ connection: ConnectionID) -> Bool {
        slots.indices.contains(connection) && slots[connection] != nil
    }

    private mutating func forget(_ connection: ConnectionID) {
        slots[connection] = nil
        openCount -= 1
        if let index = available.lastIndex(of: connection) { available.remove(at: index) }
    }

    /// Takes a slot of the connection that was used last.
    private mutating func takeSlot() -> ConnectionID? {
        guard let connection = available.last else { return nil }
        slots[connection]?.free -= 1
        slots[connection]?.taken += 1
        if slots[connection]?.free == 0 { available.removeLast() }
        return connection
    }

    /// Gives the free slot of a connection to the request that has waited longest, or keeps it.
    private mutating func serve(_ connection: ConnectionID) -> Action {
        if let index = available.lastIndex(of: connection) { available.remove(at: index) }
        if slots[connection]?.free ?? 0 > 0 { available.append(connection) }
        guard !available.isEmpty, let request = waiting.popFirst(), let connection = takeSlot() else { return .none }
        return .use(connection, for: request)
    }
}

/// Requests in the order in which they came; any of them may leave.
///
/// Taking the first and leaving are O(1), amortized: who left keeps an empty place until the line has moved past it.
struct WaitingLine: Sendable, Hashable {
    private var places: [UInt64] = []
    private var first = 0
    private var present: Set<UInt64> = []

    var count: Int { present.count }
    var isEmpty: Bool { present.isEmpty }

    mutating func append(_ request: UInt64) {
        guard present.insert(request).inserted else { return }
        places.append(request)
    }

    mutating func popFirst() -> UInt64? {
        while first < places.count {
            let request = places[first]
            first += 1
            guard present.remove(request) != nil else { continue }
            shrink()
            return request
        }
        shrink()
        return nil
    }

    /// Whether it was there.
    mutating func remove(_ request: UInt64) -> Bool {
        guard present.remove(request) != nil else { return false }
        shrink()
        return true
    }

    /// Gives places back that nobody stands in, once they are the greater part.
    private mutating func shrink() {
        if present.isEmpty {
            places.removeAll(keepingCapacity: true)
            first = 0
        } else if places.count > 64, places.count > 2 * present.count {
            places = places[first...].filter(present.contains)
            first = 0
        }
    }
}
