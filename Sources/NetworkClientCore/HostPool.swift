/// Assigns requests to the connections of one endpoint, and decides when another connection is opened.
///
/// Requests and connections are numbers here, which the pool's owner maps to objects. A connection that is being opened
/// is not reserved for a request: the first free connection serves the first request of the queue.
package struct HostPool: Sendable, Hashable {
    /// A request.
    package typealias RequestID = UInt64
    /// A connection, from the moment at which it is requested.
    package typealias ConnectionID = Int

    /// The maximum number of connections.
    package let limit: Int
    /// The open connections by number: how many exchanges each carries, and how many more it can carry.
    private var slots: [Slots?] = []
    private var openCount = 0
    /// The connections with a free slot.
    ///
    /// The last one that was used is taken first, so that others become idle and close.
    private var available: [ConnectionID] = []
    private(set) var opening: Set<ConnectionID> = []
    private(set) var waiting = WaitingQueue() {
        didSet { if waiting.isEmpty { shortageLimit = nil } }
    }
    /// The maximum number of connections while file descriptors are short; nil while they are not.
    private var shortageLimit: Int?

    /// Whether a connection carries several exchanges at a time, as far as it is known.
    package enum Sharing: Sendable, Hashable {
        /// Each carries one.
        case exclusive
        /// The first connection shows it: the requests wait for that one.
        case unknown
        /// Each carries several: another one is opened only when the others are full.
        case shared
    }

    /// Whether connections carry several exchanges at a time.
    package var sharing: Sharing
    /// The number of connections that accept no more exchanges, which don't count against ``limit``.
    private var drainingCount = 0

    private struct Slots: Sendable, Hashable {
        var limit: Int
        var taken = 0
        var isDraining = false
        var isFree: Bool { taken < limit }
    }

    /// Creates an empty pool.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of connections; at least 1.
    ///   - sharing: Whether connections carry several exchanges at a time.
    package init(limit: Int, sharing: Sharing = .exclusive) {
        self.limit = max(1, limit)
        self.sharing = sharing
    }

    /// The next action of the owner.
    package enum Action: Sendable, Hashable {
        /// Do nothing.
        case none
        /// Send a request on a connection.
        case use(ConnectionID, for: RequestID)
        /// Open a connection, and report its number with ``HostPool/opening(_:)``.
        case open
        /// Close idle connections.
        case close([ConnectionID])
        /// Cancel connections that are being opened, since no request waits for them.
        case abandon([ConnectionID])
        /// Fail a request, then call ``HostPool/next()``.
        case fail(RequestID)
        /// Fail all requests, which waited for one connection.
        case failAll([RequestID])
    }

    /// Whether no connection is open or being opened, and no request waits.
    package var isEmpty: Bool { connectionCount == 0 && waiting.isEmpty }

    /// Whether a connection is being opened.
    package var isOpening: Bool { !opening.isEmpty }

    /// The number of connections, including those that are being opened.
    package var connectionCount: Int { openCount + opening.count }

    /// Adds a request that needs a connection.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - rank: Its place in the queue, computed only if it has to wait: lower ranks are served first, equal ones in
    ///     the order in which they were added.
    /// - Returns: The next action.
    package mutating func request(_ request: RequestID, rank: @autoclosure () -> Int64 = 0) -> Action {
        if let connection = takeSlot() { return .use(connection, for: request) }
        waiting.append(request, rank: rank())
        return next()
    }

    /// Takes a slot of an open connection for a request that needs just that one.
    ///
    /// - Returns: Whether it has a free slot.
    package mutating func take(_ connection: ConnectionID) -> Bool {
        guard isOpen(connection), slots[connection]?.isFree == true else { return false }
        occupy(connection)
        return true
    }

    /// Serves a waiting request, or opens another connection.
    ///
    /// Call it again after each ``Action/fail(_:)``, and after a connection with several slots was opened.
    package mutating func next() -> Action {
        if !available.isEmpty, let request = waiting.popFirst(), let connection = takeSlot() {
            return .use(connection, for: request)
        }
        return needsConnection && connectionCount - drainingCount < shortageLimit ?? limit ? .open : .none
    }

    /// Whether another connection has to be opened for the waiting requests.
    private var needsConnection: Bool {
        sharing == .exclusive ? waiting.count > opening.count : opening.isEmpty && !waiting.isEmpty
    }

    /// Records that a connection is being opened, as requested by ``Action/open``.
    package mutating func opening(_ connection: ConnectionID) { opening.insert(connection) }

    /// Records that a connection is open.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - count: The number of exchanges that it can carry concurrently.
    /// - Returns: The next action. With several slots, call ``next()`` for more.
    package mutating func opened(_ connection: ConnectionID, slots count: Int = 1) -> Action {
        guard opening.remove(connection) != nil else { return .close([connection]) }
        while slots.count <= connection { slots.append(nil) }
        slots[connection] = .init(limit: count)
        openCount += 1
        return serve(connection)
    }

    /// Records that a connection can't be opened.
    ///
    /// The first request of the queue fails, unless enough other connections are being opened.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - isShortage: Whether the process has run out of file descriptors. As long as there are other connections, no
    ///     request then fails, and no more connections than these are opened; call ``retryAfterShortage()``
    ///     periodically.
    /// - Returns: The next action.
    package mutating func openingFailed(_ connection: ConnectionID, isShortage: Bool = false) -> Action {
        guard opening.remove(connection) != nil else { return .none }
        if isShortage, connectionCount > 0, !waiting.isEmpty {
            shortageLimit = connectionCount
            return .none
        }
        if sharing != .exclusive, connectionCount == 0, waiting.count > 1 { return .failAll(waiting.removeAll()) }
        guard waiting.count > opening.count, let request = waiting.popFirst() else { return .none }
        return .fail(request)
    }

    /// Whether requests wait for connections because file descriptors are short.
    package var isShort: Bool { shortageLimit != nil }

    /// Tries to open one more connection some time after a shortage of file descriptors.
    package mutating func retryAfterShortage() -> Action {
        guard isShort else { return .none }
        shortageLimit = min(limit, connectionCount + 1)
        return next()
    }

    /// Records that an exchange has ended and its connection can carry another one.
    package mutating func released(_ connection: ConnectionID) -> Action {
        guard isOpen(connection) else { return .none }
        slots[connection]?.taken -= 1
        return serve(connection)
    }

    /// Records that the number of exchanges has changed that a connection can carry concurrently.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - count: The number.
    ///   - isFinal: Whether it accepts no more exchanges, and is closed after the last one.
    /// - Returns: The next action. With several free slots, call ``next()`` for more.
    package mutating func changeSlots(
        of connection: ConnectionID,
        to count: Int,
        isFinal: Bool = false
    ) -> Action {
        guard isOpen(connection) else { return .none }
        slots[connection]?.limit = count
        if isFinal, slots[connection]?.isDraining == false {
            slots[connection]?.isDraining = true
            drainingCount += 1
        }
        let action = serve(connection)
        return action == .none ? next() : action
    }

    /// Records that a connection was closed, with all exchanges on it.
    ///
    /// It has no effect if the connection is not open.
    ///
    /// - Returns: The next action.
    package mutating func closed(_ connection: ConnectionID) -> Action {
        guard isOpen(connection) else { return .none }
        forget(connection)
        return next()
    }

    /// Removes a waiting request that was cancelled.
    package mutating func withdraw(_ request: RequestID) -> Action {
        guard waiting.remove(request) else { return .none }
        // Without waiting requests, the connections that are being opened are not needed.
        guard waiting.isEmpty, !opening.isEmpty else { return .none }
        defer { opening = [] }
        return .abandon(opening.sorted())
    }

    /// Removes all idle connections to close them, for example after one of them was lost, since the others are as old.
    package mutating func drain() -> Action {
        let idle = available.filter { slots[$0]?.taken == 0 }
        for connection in idle { forget(connection) }
        return idle.isEmpty ? .none : .close(idle)
    }

    private func isOpen(_ connection: ConnectionID) -> Bool {
        slots.indices.contains(connection) && slots[connection] != nil
    }

    private mutating func forget(_ connection: ConnectionID) {
        if slots[connection]?.isDraining == true { drainingCount -= 1 }
        slots[connection] = nil
        openCount -= 1
        if let index = available.lastIndex(of: connection) { available.remove(at: index) }
    }

    /// Takes a slot of the connection that was used last.
    private mutating func takeSlot() -> ConnectionID? {
        guard let connection = available.last else { return nil }
        occupy(connection)
        return connection
    }

    private mutating func occupy(_ connection: ConnectionID) {
        slots[connection]?.taken += 1
        guard slots[connection]?.isFree == false, let index = available.lastIndex(of: connection) else { return }
        available.remove(at: index)
    }

    /// Assigns a connection's free slot to the first request of the queue, or keeps the slot.
    private mutating func serve(_ connection: ConnectionID) -> Action {
        if let index = available.lastIndex(of: connection) { available.remove(at: index) }
        if slots[connection]?.isFree == true { available.append(connection) }
        guard !available.isEmpty, let request = waiting.popFirst(), let connection = takeSlot() else { return .none }
        return .use(connection, for: request)
    }
}

/// Requests by rank, and those with the same rank in the order in which they were added.
///
/// Any of them can be removed: its entry stays until it is the first one, or such entries are the majority. Adding and
/// removing take O(log n), amortized; adding one with the highest rank takes O(1).
struct WaitingQueue: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        let rank: Int64
        /// The number of entries before it.
        let number: UInt64
        let request: UInt64

        func precedes(_ other: Self) -> Bool { (rank, number) < (other.rank, other.number) }
    }

    /// A binary heap: each entry precedes those at 2i + 1 and 2i + 2.
    private var heap: [Entry] = []
    private var added: UInt64 = 0
    /// The number of the entry of each present request.
    private var present: [UInt64: UInt64] = [:]

    var count: Int { present.count }
    var isEmpty: Bool { present.isEmpty }

    mutating func append(_ request: UInt64, rank: Int64 = 0) {
        guard present[request] == nil else { return }
        added += 1
        present[request] = added
        heap.append(.init(rank: rank, number: added, request: request))
        rise()
    }

    mutating func popFirst() -> UInt64? {
        while let first = popEntry() {
            guard isPresent(first) else { continue }
            present[first.request] = nil
            shrink()
            return first.request
        }
        return nil
    }

    /// Removes all requests, and returns them in order.
    mutating func removeAll() -> [UInt64] {
        var requests: [UInt64] = []
        while let request = popFirst() { requests.append(request) }
        return requests
    }

    /// Removes a request.
    ///
    /// Returns whether it was present.
    mutating func remove(_ request: UInt64) -> Bool {
        guard present.removeValue(forKey: request) != nil else { return false }
        shrink()
        return true
    }

    private func isPresent(_ entry: Entry) -> Bool { present[entry.request] == entry.number }

    private mutating func popEntry() -> Entry? {
        guard let last = heap.popLast() else { return nil }
        guard let first = heap.first else { return last }
        heap[0] = last
        sink()
        return first
    }

    /// Moves the last entry up to its place.
    private mutating func rise() {
        var index = heap.count - 1
        while index > 0, heap[index].precedes(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Moves the first entry down to its place.
    private mutating func sink() {
        var index = 0
        while case let left = 2 * index + 1, left < heap.count {
            let right = left + 1
            let child = right < heap.count && heap[right].precedes(heap[left]) ? right : left
            guard heap[child].precedes(heap[index]) else { return }
            heap.swapAt(index, child)
            index = child
        }
    }

    /// Removes the entries of removed requests once they are the majority.
    private mutating func shrink() {
        if present.isEmpty {
            heap.removeAll(keepingCapacity: true)
        } else if heap.count > 64, heap.count > 2 * present.count {
            // A sorted array is a heap.
            heap = heap.filter(isPresent).sorted { $0.precedes($1) }
        }
    }
}
