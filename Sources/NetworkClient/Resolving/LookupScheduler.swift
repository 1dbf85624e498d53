/// Decides which lookups run, which queries share one, and when another thread is needed.
///
/// Pure: the time is passed in.
///
/// A lookup can't be interrupted, and takes many seconds if its name servers don't respond. So:
/// - Queries for one name share a lookup, as long as any of them waits for it. A lookup without waiting queries may
///   have been sent to a network that is gone: the next query starts another one, but never a third for the same name.
/// - Up to `width` lookups run at a time. Those that have run longer than `stallThreshold` are stalled and do not
///   count: lookups of other names overtake them. There are at most `bound` threads, including those of stalled
///   lookups; a query that finds all of them stalled is refused.
struct LookupScheduler {
    struct Configuration {
        var width = 4
        var bound = 32
        var stallThreshold: Duration = .milliseconds(100)
    }

    typealias QueryID = UInt64
    typealias FlightID = UInt64

    /// A lookup that is queued, running, or still running without waiting queries.
    private struct Flight {
        let name: String
        var waiting: [QueryID]
        /// The time when it began; nil while it is queued.
        var start: ContinuousClock.Instant?
        /// Whether it began before the network changed.
        var isOutdated = false
    }

    /// The action for the resolver after a query was added or time has passed.
    enum Action: Equatable {
        /// Start a thread that calls ``LookupScheduler/next(at:)`` for work. It may take another query's lookup first,
        /// so ``LookupScheduler/timePassed(for:at:)`` must be called after the stall threshold.
        case startThread
        /// Nothing: a thread will run the lookup, or the query shares one.
        case wait
        /// Nothing now; ``LookupScheduler/timePassed(for:at:)`` must be called after the stall threshold.
        case checkLater
        /// Too many lookups are stalled.
        case refuse(stalled: Int)
    }

    let configuration: Configuration
    private var flights: [FlightID: Flight] = [:]
    /// The lookups of each name, the oldest first: one or two.
    private var flightsOfName: [String: [FlightID]] = [:]
    /// The lookups that are running, each on a thread.
    private var running: Set<FlightID> = []
    private var queue: [FlightID] = []
    private var flightOfQuery: [QueryID: FlightID] = [:]
    private var lastID: UInt64 = 0
    /// The number of threads that run, or have been requested.
    private(set) var threads = 0

    init(_ configuration: Configuration = .init()) { self.configuration = configuration }

    /// Whether there are no queries and no threads.
    var isIdle: Bool { threads == 0 && flights.isEmpty }

    /// Adds a query for a name.
    mutating func query(_ name: String, at now: ContinuousClock.Instant) -> (id: QueryID, Action) {
        lastID += 1
        let query = lastID
        if let shared = shared(name, at: now) {
            flights[shared]?.waiting.append(query)
            flightOfQuery[query] = shared
            return (query, flights[shared]?.start == nil ? .checkLater : .wait)
        }
        let capacity = capacity(at: now)
        if case .refuse = capacity { return (query, capacity) }
        enqueue(name, for: query)
        return (query, granted(capacity))
    }

    /// Returns the next action for a query, after ``Action/checkLater`` was returned for it and time has passed.
    mutating func timePassed(for query: QueryID, at now: ContinuousClock.Instant) -> Action {
        guard let flight = flightOfQuery[query], flights[flight]?.start == nil else { return .wait }
        return granted(capacity(at: now))
    }

    /// Returns the next lookup for a thread; nil if the thread should end.
    mutating func next(at now: ContinuousClock.Instant) -> (id: FlightID, name: String)? {
        guard !queue.isEmpty else {
            threads -= 1
            return nil
        }
        let id = queue.removeFirst()
        flights[id]?.start = now
        running.insert(id)
        return flights[id].map { (id, $0.name) }
    }

    /// Ends a lookup; returns the queries that wait for it, none if all were cancelled.
    mutating func finished(_ id: FlightID) -> [QueryID] {
        let waiting = flights[id]?.waiting ?? []
        remove(id)
        for query in waiting { flightOfQuery[query] = nil }
        return waiting
    }

    /// Cancels a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - isOutdated: Whether its lookup began before the network changed: no later query shares it, unless others wait
    ///     for it.
    /// - Returns: Whether it was still waiting.
    mutating func cancel(_ query: QueryID, isOutdated: Bool = false) -> Bool {
        guard let id = flightOfQuery.removeValue(forKey: query) else { return false }
        flights[id]?.waiting.removeAll { $0 == query }
        if isOutdated { flights[id]?.isOutdated = true }
        if flights[id]?.waiting.isEmpty == true, flights[id]?.start == nil {
            remove(id)
            queue.removeAll { $0 == id }
        }
        return true
    }

    /// Handles a thread that could not be started; returns the queries that no thread will serve.
    mutating func threadFailed() -> [QueryID] {
        threads -= 1
        guard threads == 0 else { return [] }
        defer { queue = [] }
        return queue.flatMap { finished($0) }
    }
}

extension LookupScheduler {
    private mutating func enqueue(_ name: String, for query: QueryID) {
        lastID += 1
        flights[lastID] = .init(name: name, waiting: [query])
        flightsOfName[name, default: []].append(lastID)
        flightOfQuery[query] = lastID
        queue.append(lastID)
    }

    private mutating func remove(_ id: FlightID) {
        guard let name = flights.removeValue(forKey: id)?.name else { return }
        running.remove(id)
        let others = flightsOfName[name]?.filter { $0 != id } ?? []
        flightsOfName[name] = others.isEmpty ? nil : others
    }

    /// Returns the lookup of the name that a new query joins.
    private func shared(_ name: String, at now: ContinuousClock.Instant) -> FlightID? {
        guard let flights = flightsOfName[name], let newest = flights.last else { return nil }
        return flights.count > 1 || !isAbandoned(newest, at: now) ? newest : nil
    }

    private mutating func granted(_ action: Action) -> Action {
        if action == .startThread { threads += 1 }
        return action
    }

    /// Returns whether another lookup can get a thread.
    private func capacity(at now: ContinuousClock.Instant) -> Action {
        let stalled = running.count { isStalled($0, at: now) }
        if threads - stalled < configuration.width, threads < configuration.bound { return .startThread }
        return threads < configuration.bound || stalled < threads ? .checkLater : .refuse(stalled: stalled)
    }

    private func isStalled(_ id: FlightID, at now: ContinuousClock.Instant) -> Bool {
        flights[id]?.start.map { now - $0 >= configuration.stallThreshold } ?? false
    }

    private func isAbandoned(_ id: FlightID, at now: ContinuousClock.Instant) -> Bool {
        guard let flight = flights[id], flight.waiting.isEmpty else { return false }
        return flight.isOutdated || isStalled(id, at: now)
    }
}
