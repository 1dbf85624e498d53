import EventCore
import NetwatchCore
import ReachabilityCore

/// The events of a machine, in order: by run, then by number.
///
/// The machine's newest state says which run is the last; the others are ordered by their latest times.
struct NodeLog: Hashable, Sendable {
    private(set) var runs: [RunLog] = []
    /// The run of the event that came last on the topic of the state.
    private var currentRun: UInt64?

    /// The number of runs that are kept.
    static let maximumRuns = 32

    /// The number of events that are kept.
    var count: Int { runs.reduce(0) { $0 + $1.events.count } }

    /// The newest event.
    var newest: EventReport? { runs.last?.newest }

    /// Returns the log of a run.
    subscript(run: UInt64) -> RunLog? { runs.first { $0.run == run } }

    /// Adds an event.
    ///
    /// - Parameters:
    ///   - report: The event.
    ///   - isDelivered: Whether it came on the topic of events.
    ///   - now: When it was received, in nanoseconds since 1970.
    /// - Returns: What the event is: outdated if it is of an older run than those that are kept.
    mutating func add(_ report: EventReport, isDelivered: Bool, receivedAt now: Int64) -> FleetUpdate {
        if !isDelivered { currentRun = report.id.run }
        let known = runs.lastIndex { $0.run == report.id.run }
        if known == nil { runs.append(.init(report)) }
        let isNew = runs[known ?? runs.count - 1].add(report, isDelivered: isDelivered, receivedAt: now)
        order()
        if runs.count > Self.maximumRuns, runs.removeFirst().run == report.id.run { return .outdated }
        return isNew ? .new : .duplicate
    }

    /// Moves the runs that are not in their places; almost always there is none.
    private mutating func order() {
        let isBefore = { [currentRun] (left: RunLog, right: RunLog) -> Bool in
            if (left.run == currentRun) != (right.run == currentRun) { return right.run == currentRun }
            return (left.latestTime, left.run) < (right.latestTime, right.run)
        }
        guard zip(runs, runs.dropFirst()).contains(where: { isBefore($1, $0) }) else { return }
        runs.sort(by: isBefore)
    }

    /// The events that the newest one says are still to come.
    ///
    /// Of the only run that is known, those before the first known event were for others.
    var backlog: UInt64 {
        guard let last = runs.last, let newest = last.known.last else { return 0 }
        let start = last.delivered.last ?? (runs.count > 1 ? 0 : last.known.first ?? 0)
        return newest > start ? newest - start : 0
    }

    /// Returns how many events are missing between others since a moment, in nanoseconds since 1970.
    ///
    /// Those before an event that came on the topic of events do not come any more.
    func lost(since moment: Int64) -> UInt64 {
        runs.reduce(0) { sum, run in
            guard let last = run.delivered.last, let first = run.events.first(where: { $0.time ?? .max >= moment })
            else { return sum }
            return sum &+ run.known.holes(from: first.sequence, upTo: last)
        }
    }

    /// Removes the events of which nothing is seen after a moment, and the oldest beyond a number.
    ///
    /// - Parameters:
    ///   - moment: In nanoseconds since 1970.
    ///   - id: An event from which on all are kept, however old; nil if there is none.
    ///   - capacity: The number of events that may be kept.
    mutating func prune(before moment: Int64, keeping id: EventID?, capacity: Int) {
        let kept = { (runs: [RunLog]) in id.flatMap { id in runs.firstIndex { $0.run == id.run } } ?? runs.count }
        let first = kept(runs)
        let last = runs.count - 1
        runs = runs.enumerated().filter { $0 >= first || $0 == last || $1.latestTime >= moment }.map(\.element)
        for index in runs.indices.prefix(kept(runs)) { drop(in: index, before: moment) }
        var excess = count > capacity ? count - capacity + capacity / 8 : 0
        while excess > 0, !runs.isEmpty {
            let number = min(excess, runs[0].events.count - (runs.count == 1 ? 1 : 0))
            runs[0].removeFirst(number)
            excess -= number
            guard runs.count > 1, runs[0].events.isEmpty else { break }
            runs.removeFirst()
        }
    }

    /// Drops the events of a run before the last one that is not later than a moment, whose state lasted until then.
    private mutating func drop(in index: Int, before moment: Int64) {
        let events = runs[index].events
        guard events.count > 1, let second = events[1].time, second < moment else { return }
        let number = events.prefix { ($0.time ?? .max) < moment }.count - 1
        if number > 0 { runs[index].removeFirst(number) }
    }
}

extension NodeLog {
    /// The history of all events, as far as they are kept; nil if none has a time.
    var history: History? {
        var history: History?
        var (sequence, time): (UInt64, Int64?) = (0, nil)
        for run in runs {
            var previous: LoggedEvent?
            for event in run.events {
                defer { previous = event }
                time = event.time ?? time
                guard let time else { continue }
                // Numbers that follow each other say that nothing is missing; those of a run that begin again, that it is.
                let isFirst = previous == nil && event.sequence == 1
                let follows = previous.map { run.isContiguous($0, event) } ?? false
                sequence = previous == nil ? (isFirst ? 1 : 0) : sequence + (follows ? 1 : 2)
                let record = HistoryRecord(event, time, isFirst: isFirst, sequence: sequence)
                if history == nil { history = .init(record, bridge: Self.bridge) } else { history?.take(record) }
            }
        }
        return history
    }

    /// A service that is restarted within this time has seen everything, as far as is known.
    private static let bridge = Duration.seconds(60)
}

extension HistoryRecord {
    fileprivate init(_ event: LoggedEvent, _ time: Int64, isFirst: Bool, sequence: UInt64) {
        self.init(
            line: 1,
            time: .init(nanosecondsSinceEpoch: time),
            isFirst: isFirst,
            sequence: sequence,
            status: event.time == nil ? .unknown : event.status,
            reasons: event.reasons,
            suspension: event.suspension.map { .lasted($0) }
        )
    }
}
