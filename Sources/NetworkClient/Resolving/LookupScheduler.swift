/// Decides which lookups run, who waits for which, and when a thread more is worth it; pure, time is handed in.
///
/// A lookup can't be interrupted, and one whose name servers are silent lasts for many seconds. So:
/// - Queries for one name share a lookup, as long as somebody waits for it. One that everybody has given up may have
///   been asked of a network that is gone: the next query starts another one, but never a third of the same name.
/// - Up to `width` lookups run at a time. Those that have run longer than `stallThreshold` are stalled and do not
///   count: other names pass them by. Only up to `bound` threads there may be, the stalled ones included; a query that
///   finds all of them stalled is refused.
struct LookupScheduler {
    struct Configuration {
        var width = 4
        var bound = 32
        var stallThreshold: Duration = .milliseconds(100)
    }

    typealias QueryID = UInt64
    typealias FlightID = UInt64

    /// A lookup that is to run, runs, or has been given up and runs still.
    private struct Flight {
        let name: String
        var waiting: [QueryID]
        /// When it began; nil while it is in the queue.
        var start: ContinuousClock.Instant?
    }

    /// What the shell has to do after a query was made or time has passed.
    enum Action: Equatable {
        /// Start a thread that asks ``LookupScheduler/next(at:)`` for work, of which this query's may not be the first:
        /// so
        /// ``LookupScheduler/timePassed(for:at:)`` is to be called after the stall threshold.
        case startThread
        /// Nothing: a thread will come to it, or the query shares a lookup.
        case wait
        /// Nothing now; ``LookupScheduler/timePassed(for:at:)`` is to be called after the stall threshold.
        case checkLater
        /// Too many lookups are stalled.
        case refuse(stalled: Int)
    }

    let configuration: Configuration
    private var flights: [FlightID: Flight] = [:]
    /// The lookups of each name, oldest first: one or two.
    private var flightsOfName: [String: [FlightID]] = [:]
    /// The lookups that have begun, each with a thread.
    private var running: Set<FlightID> = []
    private var queue: [FlightID] = []
    private var flightOfQuery: [QueryID: FlightID] = [:]
    private var lastID: UInt64 = 0
    /// Threads that run, or have been asked for.
    private(set) var threads = 0

    init(_ configuration: Configuration = .init()) { self.configuration = configuration }

    /// Whether nothing is waited for and no thread is left.
    var isIdle: Bool { threads == 0 && flights.isEmpty }

    /// Somebody wants a name.
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

    /// Time has passed since ``Action/checkLater`` was said of a query.
    mutating func timePassed(for query: QueryID, at now: ContinuousClock.Instant) -> Action {
        guard let flight = flightOfQuery[query], flights[flight]?.start == nil else { return .wait }
        return granted(capacity(at: now))
    }

    /// A thread asks for work; with nil it ends.
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

    /// A lookup has ended: who waits for it, none if its answer comes too late.
    mutating func finished(_ id: FlightID) -> [QueryID] {
        let waiting = flights[id]?.waiting ?? []
        remove(id)
        for query in waiting { flightOfQuery[query] = nil }
        return waiting
    }

    /// A query is given up; returns whether it was still waiting.
    mutating func cancel(_ query: QueryID) -> Bool {
        guard let id = flightOfQuery.removeValue(forKey: query) else { return false }
        flights[id]?.waiting.removeAll { $0 == query }
        if flights[id]?.waiting.isEmpty == true, flights[id]?.start == nil {
            remove(id)
            queue.removeAll { $0 == id }
        }
        return true
    }

    /// No thread could be started: the queries that none will serve now.
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

    /// The lookup of the name that a query joins.
    private func shared(_ name: String, at now: ContinuousClock.Instant) -> FlightID? {
        guard let flights = flightsOfName[name], let newest = flights.last else { return nil }
        return flights.count > 1 || !isAbandoned(newest, at: now) ? newest : nil
    }

    private mutating func granted(_ action: Action) -> Action {
        if action == .startThread { threads += 1 }
        return action
    }

    /// Whether one more lookup can have a thread.
    private func capacity(at now: ContinuousClock.Instant) -> Action {
        let stalled = running.count { isStalled($0, at: now) }
        if threads - stalled < configuration.width, threads < configuration.bound { return .startThread }
        return threads < configuration.bound || stalled < threads ? .checkLater : .refuse(stalled: stalled)
    }

    private func isStalled(_ id: FlightID, at now: ContinuousClock.Instant) -> Bool {
        flights[id]?.start.map { now - $0 >= configuration.stallThreshold } ?? false
    }

    private func isAbandoned(_ id: FlightID, at now: ContinuousClock.Instant) -> Bool {
        flights[id]?.waiting.isEmpty == true && isStalled(id, at: now)
    }
}
