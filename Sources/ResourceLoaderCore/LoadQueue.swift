/// The loads of a loader: which ones are shared, which one is started next, and who gets its result.
///
/// Callers of one key share a load. Each has a number, by which it leaves the load again.
package struct LoadQueue<Key: Hashable & Sendable>: Sendable {
    /// The order in which loads of equal priority are started.
    package enum Order: Sendable, Hashable {
        case firstInFirstOut
        case lastInFirstOut
    }

    /// The next step after a caller has left a load.
    package enum Departure: Sendable, Hashable {
        /// Nothing: the load continues for others, or had not started, or the caller is not known.
        case none
        /// Cancel the load, which had no other caller; its end is to be reported by ``finish(_:_:)``.
        case cancel(Key, load: Int)
    }

    private struct Load {
        /// The number of the load.
        let number: Int
        /// The callers, in order.
        var callers: [Int] = []
        var priority: Int
        var isRunning = false
        /// The place in the line; of an entry of a line, only the latest counts.
        var ticket: Int
    }

    private struct Entry {
        let key: Key
        let ticket: Int
    }

    /// The waiting loads of one priority, with entries that no longer count.
    private struct Line {
        private var entries: [Entry] = []
        private var start = 0

        var isEmpty: Bool { start == entries.count }

        mutating func append(_ entry: Entry) { entries.append(entry) }

        mutating func next(_ order: Order) -> Entry? {
            guard !isEmpty else { return nil }
            if order == .lastInFirstOut { return entries.removeLast() }
            defer {
                start += 1
                if start > 64, start * 2 > entries.count {
                    entries.removeFirst(start)
                    start = 0
                }
            }
            return entries[start]
        }
    }

    private let order: Order
    private let limit: Int
    private var loads: [Key: Load] = [:]
    /// The running loads that no further caller joins, by their numbers.
    private var closed: [Int: Load] = [:]
    private var keys: [Int: Key] = [:]
    private var lines: [Int: Line] = [:]
    /// The number of loads that are running, cancelled ones included until their end.
    package private(set) var running = 0
    private var next = 0

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - order: The order of loads of equal priority.
    ///   - limit: The maximum number of loads that run at the same time.
    package init(order: Order, limit: Int) {
        self.order = order
        self.limit = max(1, limit)
    }

    /// The number of callers that wait for a load.
    package var callers: Int { keys.count }

    private mutating func number() -> Int {
        next += 1
        return next
    }

    /// Adds a caller to the load of a key, which is begun if there is none.
    ///
    /// A higher priority moves a waiting load forward; with ``Order/lastInFirstOut``, so does each new caller.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - priority: The priority; higher ones are started first.
    /// - Returns: The number of the caller.
    package mutating func add(_ key: Key, priority: Int) -> Int {
        let caller = number()
        keys[caller] = key
        var load = loads[key] ?? Load(number: caller, priority: priority, ticket: 0)
        let moves = load.callers.isEmpty || priority > load.priority || order == .lastInFirstOut
        load.callers.append(caller)
        load.priority = max(load.priority, priority)
        if moves, !load.isRunning {
            load.ticket = caller
            lines[load.priority, default: .init()].append(.init(key: key, ticket: caller))
        }
        loads[key] = load
        return caller
    }

    /// Returns the next load to start: its key and its number; nil if there is none, or if the limit is reached.
    package mutating func start() -> (key: Key, load: Int)? {
        guard running < limit else { return nil }
        for priority in lines.keys.sorted(by: >) {
            while let entry = lines[priority]?.next(order) {
                guard var load = loads[entry.key], load.ticket == entry.ticket, !load.isRunning else { continue }
                load.isRunning = true
                loads[entry.key] = load
                running += 1
                return (entry.key, load.number)
            }
            lines[priority] = nil
        }
        return nil
    }

    /// Removes a caller from its load.
    package mutating func remove(_ caller: Int) -> Departure {
        guard let key = keys.removeValue(forKey: caller) else { return .none }
        if let departure = removeFromClosed(caller, key) { return departure }
        guard var load = loads[key] else { return .none }
        load.callers.removeAll { $0 == caller }
        guard load.callers.isEmpty else {
            loads[key] = load
            return .none
        }
        loads[key] = nil
        return load.isRunning ? .cancel(key, load: load.number) : .none
    }

    /// Removes a caller from a closed load; nil if it belongs to none.
    private mutating func removeFromClosed(_ caller: Int, _ key: Key) -> Departure? {
        guard let number = closed.first(where: { $0.value.callers.contains(caller) })?.key else { return nil }
        closed[number]?.callers.removeAll { $0 == caller }
        guard closed[number]?.callers.isEmpty == true else { return Departure.none }
        closed[number] = nil
        return .cancel(key, load: number)
    }

    /// Closes the load of a key if it is running: later callers begin another one.
    package mutating func close(_ key: Key) {
        guard let load = loads[key], load.isRunning else { return }
        loads[key] = nil
        closed[load.number] = load
    }

    /// Closes all running loads.
    package mutating func closeAll() { for key in Array(loads.keys) { close(key) } }

    /// Returns whether a running load has callers and was not closed.
    package func isOpen(_ key: Key, _ number: Int) -> Bool { loads[key]?.number == number }

    /// Ends a running load.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - number: Its number; another load of the key may have begun since it was cancelled.
    /// - Returns: Its callers, in the order in which they were added.
    package mutating func finish(_ key: Key, _ number: Int) -> [Int] {
        running -= 1
        var ended = closed.removeValue(forKey: number)
        if isOpen(key, number) { ended = loads.removeValue(forKey: key) }
        let callers = ended?.callers ?? []
        for caller in callers { keys[caller] = nil }
        return callers
    }
}
