import EventCore
import NetwatchCore
import ReachabilityCore

/// An event, as far as it is kept: in 40 bytes, since a fleet has many.
struct LoggedEvent: Hashable, Sendable {
    let sequence: UInt64
    /// In nanoseconds since 1970; `.min` if there is none.
    private let storedTime: Int64
    /// In nanoseconds; `.min` if there was none.
    private let storedSuspension: Int64
    let reasons: [String]
    let status: ReachabilityStatus

    /// In nanoseconds since 1970, by the machine's clock; nil if that was not set.
    var time: Int64? { storedTime == .min ? nil : storedTime }
    /// The suspension that ended just before the event; nil if there was none.
    var suspension: Duration? { storedSuspension == .min ? nil : .nanoseconds(storedSuspension) }

    /// - Parameters:
    ///   - report: The event.
    ///   - now: When it was received, in nanoseconds since 1970: it cannot have happened a day later.
    init(_ report: EventReport, receivedAt now: Int64) {
        let time = report.time.nanosecondsSinceEpoch
        sequence = report.id.sequence
        storedTime = time >= Self.earliest && time <= now &+ Span.day ? time : .min
        storedSuspension = report.suspension.map { Int64($0 / .nanoseconds(1)) } ?? .min
        reasons = report.reasons
        status = report.status
    }

    /// 2020: a clock that is earlier was not set.
    private static let earliest: Int64 = 1_577_836_800_000_000_000
}

/// Lengths of time in nanoseconds.
enum Span {
    static let second: Int64 = 1_000_000_000
    static let minute = 60 * second
    static let hour = 60 * minute
    static let day = 24 * hour
}

/// The events of one run of a machine's event service.
///
/// Of events in one state that follow each other without a gap, only the first and the last are kept.
struct RunLog: Hashable, Sendable {
    let run: UInt64
    /// The numbers of all events that are known.
    private(set) var known = SequenceRanges()
    /// The numbers of those that came on the topic of events, not only on that of the state.
    private(set) var delivered = SequenceRanges()
    /// The events that are kept, by their numbers.
    private(set) var events: [LoggedEvent] = []
    /// The newest event.
    private(set) var newest: EventReport
    /// The latest time of an event, in nanoseconds since 1970; 0 if none has one.
    private(set) var latestTime: Int64 = 0

    /// Creates a log with its first event, which is still to be added.
    init(_ report: EventReport) {
        run = report.id.run
        newest = report
    }

    /// Adds an event.
    ///
    /// - Returns: Whether it is new, as an event if it was delivered as one.
    mutating func add(_ report: EventReport, isDelivered: Bool, receivedAt now: Int64) -> Bool {
        let isNewDelivery = isDelivered && delivered.insert(report.id.sequence)
        // What is stored of an event lacks the verdict.
        if report.id.sequence == newest.id.sequence, report.validation != nil { newest = report }
        guard known.insert(report.id.sequence) else { return isNewDelivery }
        if report.id.sequence >= newest.id.sequence { newest = report }
        insert(LoggedEvent(report, receivedAt: now))
        return true
    }

    private mutating func insert(_ event: LoggedEvent) {
        latestTime = max(latestTime, event.time ?? 0)
        let place = position(after: event.sequence)
        events.insert(event, at: place)
        for index in [place + 1, place, place - 1] where isRedundant(index) { events.remove(at: index) }
    }

    /// The position of the first kept event after a number, by bisection.
    func position(after sequence: UInt64) -> Int {
        guard let last = events.last, last.sequence > sequence else { return events.count }
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns whether an event says nothing that its neighbours do not say.
    private func isRedundant(_ index: Int) -> Bool {
        guard index > 0, index + 1 < events.count else { return false }
        let (before, event, after) = (events[index - 1], events[index], events[index + 1])
        guard before.status == event.status, event.status == after.status, event.suspension == nil,
            after.suspension == nil, let start = before.time, let time = event.time, let end = after.time
        else { return false }
        return start <= time && time <= end && end - start < Span.day * 365
            && known.contains(before.sequence...after.sequence)
    }

    /// Returns whether no event is missing between two that are kept.
    func isContiguous(_ first: LoggedEvent, _ second: LoggedEvent) -> Bool {
        first.sequence <= second.sequence && known.contains(first.sequence...second.sequence)
    }

    /// Removes events from the start.
    mutating func removeFirst(_ count: Int) {
        events.removeFirst(count)
        if let first = events.first { known.forgetHoles(below: first.sequence) }
        if let first = events.first { delivered.forgetHoles(below: first.sequence) }
    }
}
