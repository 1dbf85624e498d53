/// Which connection to one endpoint serves which request, and when another is opened.
///
/// Requests and connections are numbers here; who holds the pool knows what they stand for. A connection that is being
/// opened belongs to no request: whichever connection is free first serves whoever has waited longest.
public struct HostPool: Sendable, Hashable {
    /// A request.
    public typealias RequestID = UInt64
    /// A connection, from the moment at which it is asked for.
    public typealias ConnectionID = Int

    /// How many connections there may be at once.
    public let limit: Int
    /// Connections that could serve at once; the last one used is taken first, so that others can grow old and close.
    private(set) var idle: [ConnectionID] = []
    private(set) var opening: Set<ConnectionID> = []
    private(set) var busy = 0
    private(set) var waiting = WaitingLine() {
        didSet { if waiting.isEmpty { shortageLimit = nil } }
    }
    /// How many connections there may be at once while descriptors are short; nil while they are not.
    private var shortageLimit: Int?

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
    public var isEmpty: Bool { idle.isEmpty && opening.isEmpty && busy == 0 && waiting.isEmpty }

    /// Whether a connection is being opened.
    public var isOpening: Bool { !opening.isEmpty }

    /// How many connections there are, those included that are being opened.
    public var connectionCount: Int { idle.count + opening.count + busy }

    /// A request wants a connection.
    public mutating func request(_ request: RequestID) -> Action {
        if let connection = idle.popLast() {
            busy += 1
            return .use(connection, for: request)
        }
        waiting.append(request)
        return next()
    }

    /// Whether another connection is to be opened; asked again after each ``Action/fail(_:)``.
    public func next() -> Action {
        waiting.count > opening.count && connectionCount < shortageLimit ?? limit ? .open : .none
    }

    /// A connection is being opened, as ``Action/open`` asked.
    public mutating func opening(_ connection: ConnectionID) { opening.insert(connection) }

    /// A connection is open.
    public mutating func opened(_ connection: ConnectionID) -> Action {
        guard opening.remove(connection) != nil else { return .close([connection]) }
        return free(connection)
    }

    /// A connection can't be opened: whoever has waited longest gets the error, unless others are being opened for it.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - isShortage: Whether the process has no descriptor for it. Then nobody gets the error as long as there are other
    ///     connections to wait for, and no more than these are opened; ask ``retryAfterShortage()`` once in a while.
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

    /// A request was answered and its connection can serve another.
    public mutating func released(_ connection: ConnectionID) -> Action {
        busy -= 1
        return free(connection)
    }

    /// A connection that served a request was closed.
    public mutating func closedWhileBusy() -> Action {
        busy -= 1
        return next()
    }

    /// An idle connection was closed, by the other end or as too old.
    ///
    /// - Returns: Whether it was idle: if not, it has been given to a request meanwhile.
    @discardableResult
    public mutating func closedWhileIdle(_ connection: ConnectionID) -> Bool {
        guard let index = idle.lastIndex(of: connection) else { return false }
        idle.remove(at: index)
        return true
    }

    /// A request that waits is wanted no more.
    public mutating func withdraw(_ request: RequestID) -> Action {
        guard waiting.remove(request) else { return .none }
        // Whoever goes away takes the connection along that would be opened for nobody.
        guard waiting.isEmpty, !opening.isEmpty else { return .none }
        defer { opening = [] }
        return .abandon(opening.sorted())
    }

    /// Takes all idle connections out, to close them: as after one that was lost, since the others are as old.
    public mutating func drain() -> Action {
        defer { idle = [] }
        return idle.isEmpty ? .none : .close(idle)
    }

    private mutating func free(_ connection: ConnectionID) -> Action {
        guard let request = waiting.popFirst() else {
            idle.append(connection)
            return .none
        }
        busy += 1
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
