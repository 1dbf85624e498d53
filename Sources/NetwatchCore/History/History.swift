package import ReachabilityCore
package import ValidationCore

/// The availability in a period of the past, from the lines of one monitor or of several in turn.
///
/// Time that no line covers is unknown, and counts neither as available nor as an outage: the time between the last line of a
/// monitor and the first of the next, unless that is short; the time in which lines were lost; the time in which the
/// machine was suspended; a leap of more than a year, by which a clock was set; and the time from a monitor's beginning
/// with a clock that is behind to its first line that is not.
package struct History: Sendable, Hashable {
    /// Which state there was when, by nanoseconds since 1970.
    package private(set) var timeline: StateTimeline
    /// The outages, in order.
    package private(set) var outages: [Outage] = []
    /// The times with a path that did not lead to the internet, in order; empty where paths were not validated.
    package private(set) var limitations: [Limitation] = []
    /// The irregularities that made parts of it uncertain.
    package private(set) var irregularities: [HistoryIrregularity] = []
    /// A gap between two monitors that counts as a restart, in which the state lasted.
    private let bridge: Duration
    private var last: HistoryRecord
    /// Whether the monitor began with a clock that was behind, and still is.
    private var isBehind = false

    /// The longest plausible time between two lines of one monitor.
    private static let longestStep = Duration.seconds(366 * 86_400)

    /// Begins with a record.
    ///
    /// - Parameters:
    ///   - first: The record.
    ///   - bridge: A gap between two monitors that counts as a restart.
    package init(_ first: HistoryRecord, bridge: Duration) {
        timeline = StateTimeline(first.status, at: .init(first.time), capacity: .max)
        last = first
        self.bridge = bridge
        if first.status == .notReachable { begin(first) }
        follow(first.verdict, at: timeline.start)
    }

    /// Takes the next record.
    package mutating func take(_ record: HistoryRecord) {
        let now = Instant(record.time)
        guard now >= timeline.end else { return retract(record, now.duration(to: timeline.end)) }
        noteSuspension(record, at: now)
        take(record, at: now)
        isBehind = false
    }

    /// Takes a record that is older than what is known already.
    private mutating func retract(_ record: HistoryRecord, _ length: Duration) {
        guard record.isFirst || isBehind else {
            irregularities.append(.init(line: record.line, kind: .clockWentBack(length)))
            return take(record, at: timeline.end)
        }
        // A clock that is not set yet cannot date this, and nothing was monitored before.
        if record.isFirst { irregularities.append(.init(line: record.line, kind: .beganBehind(length))) }
        isBehind = true
        timeline.note(.unknown, at: timeline.end)
        last = record
    }

    private mutating func noteSuspension(_ record: HistoryRecord, at moment: Instant) {
        switch record.suspension {
        case nil: break
        case .lasted(let length):
            timeline.note(.unknown, at: max(timeline.end, moment.advanced(by: .zero - min(length, Self.longestStep))))
        case .untold:
            irregularities.append(.init(line: record.line, kind: .suspended))
            timeline.note(.unknown, at: timeline.end)
        }
    }

    private mutating func take(_ record: HistoryRecord, at moment: Instant) {
        if let irregularity = irregularity(about: record, at: moment) {
            if irregularity != .restart { irregularities.append(.init(line: record.line, kind: irregularity)) }
            timeline.note(.unknown, at: timeline.end)
            follow(nil, at: timeline.end)
        }
        follow(record, at: moment)
        follow(record.verdict, at: moment)
        timeline.note(record.status, at: moment)
        timeline.advance(to: moment)
        last = record
    }

    /// The state of the last record lasted until then.
    package mutating func extend(to moment: Timestamp) { timeline.advance(to: .init(moment)) }

    /// Why the status may not have lasted until a record; `.restart` is not reported to the user.
    private func irregularity(about record: HistoryRecord, at moment: Instant) -> HistoryIrregularity.Kind? {
        let gap = timeline.end.duration(to: moment)
        if gap > Self.longestStep { return .leap(gap) }
        if record.isFirst { return gap > bridge ? .restart : nil }
        guard record.sequence > last.sequence else { return record.sequence == last.sequence ? nil : .lost(nil) }
        let missing = record.sequence - last.sequence - 1
        return missing > 0 ? .lost(missing) : nil
    }

    private mutating func follow(_ record: HistoryRecord, at moment: Instant) {
        let isOut = outages.last.map { $0.end == nil } ?? false
        switch record.status {
        case .unknown: break
        case .notReachable:
            if !isOut { begin(record, at: moment) }
        case .cellular, .wifi:
            if isOut { outages[outages.count - 1].end = moment }
        }
    }

    /// A verdict lasts until the next record: one without a verdict is about another path, or of a service that no longer
    /// validates it.
    private mutating func follow(_ verdict: ValidationVerdict?, at moment: Instant) {
        let last = limitations.last { $0.end == nil }?.verdict
        guard last != verdict else { return }
        if last != nil { limitations[limitations.count - 1].end = moment }
        if let verdict, verdict.isLimited { limitations.append(.init(start: moment, end: nil, verdict: verdict)) }
    }

    private mutating func begin(_ record: HistoryRecord, at moment: Instant? = nil) {
        outages.append(.init(start: moment ?? .init(record.time), end: nil, reasons: record.reasons))
    }
}

/// A time without network.
package struct Outage: Sendable, Hashable {
    /// When it began.
    package var start: Instant
    /// When it ended; nil if that is unknown.
    package var end: Instant?
    /// Why, in the words of the line.
    package var reasons: [String]
}

/// A time with a path that did not lead to the internet: a portal held it, or no server could be reached.
///
/// The network was available nevertheless, by the kernel's view.
package struct Limitation: Sendable, Hashable {
    /// When it was noticed.
    package var start: Instant
    /// When the verdict ended; nil if it has not.
    package var end: Instant?
    /// The verdict.
    package var verdict: ValidationVerdict
}

/// An irregularity of a line, which makes the time before it uncertain.
package struct HistoryIrregularity: Sendable, Hashable {
    /// The line, counted from 1.
    package var line: Int
    /// The kind.
    package var kind: Kind

    /// The kinds of irregularities.
    package enum Kind: Sendable, Hashable {
        /// The clock went back so far; the line counts as if it had been written when the one before was.
        case clockWentBack(Duration)
        /// A monitor started with a clock that was this far behind; the time until it is set is unknown.
        case beganBehind(Duration)
        /// The machine was suspended for an unknown time.
        case suspended
        /// The clock leapt so far ahead that it was set.
        case leap(Duration)
        /// The number of missing lines; nil if it is unknown.
        case lost(UInt64?)
        /// Another monitor begins.
        case restart
    }
}

extension Instant {
    /// A moment of the calendar, by nanoseconds since 1970.
    init(_ time: Timestamp) { self.init(nanoseconds: time.nanosecondsSinceEpoch) }
}

/// The part of a line of `watch --json` that a history needs.
package struct HistoryRecord: Sendable, Hashable {
    /// Where it was read, counted from 1.
    package var line: Int
    /// When it was written.
    package var time: Timestamp
    /// Whether a monitor began with it.
    package var isFirst: Bool
    /// The change's number, counted by its monitor from 1.
    package var sequence: UInt64
    /// The state.
    package var status: ReachabilityStatus
    /// Why, in the words of the line.
    package var reasons: [String]
    /// The suspension that has just ended; nil if none.
    package var suspension: Suspension?
    /// The verdict on the path; nil if there is none.
    package var verdict: ValidationVerdict?

    /// The duration of a suspension.
    package enum Suspension: Sendable, Hashable {
        /// So long.
        case lasted(Duration)
        /// The line does not contain it.
        case untold
    }

    /// Creates a record.
    package init(
        line: Int,
        time: Timestamp,
        isFirst: Bool,
        sequence: UInt64,
        status: ReachabilityStatus,
        reasons: [String] = [],
        suspension: Suspension? = nil,
        verdict: ValidationVerdict? = nil
    ) {
        self.line = line
        self.time = time
        self.isFirst = isFirst
        self.sequence = sequence
        self.status = status
        self.reasons = reasons
        self.suspension = suspension
        self.verdict = verdict
    }
}

extension ReachabilityStatus {
    /// The state of a name, as JSON lines have it.
    package init?(name: String) {
        guard let status = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = status
    }
}

/// A day as people of one place count it.
package struct LocalDay: Sendable, Hashable {
    /// The date.
    package let date: CivilDay
    /// From midnight to midnight, by nanoseconds since 1970; 23 to 25 hours, and none of a date that a place left out.
    package let span: Range<Instant>
}

/// The days of a place.
package struct LocalDays: Sendable {
    /// Returns the offset of local time from UTC at a time, in seconds east.
    private let offset: @Sendable (Timestamp) -> Int

    /// Takes what knows the place.
    package init(offset: @escaping @Sendable (Timestamp) -> Int) { self.offset = offset }

    /// The moment at which a day begins: midnight, or the first moment after it that there is.
    package func midnight(of day: CivilDay) -> Timestamp {
        let plain = day.daysSinceEpoch * 86_400
        func candidate(_ offsetMoment: Int64) -> Int64 {
            plain - Int64(offset(.init(seconds: offsetMoment, nanoseconds: 0)))
        }
        // Once for the offset, and again if it differs before that time.
        let first = candidate(plain)
        let second = candidate(first)
        // If the clock is set forward at midnight, there is none: with the later offset it is in the day before.
        let isBefore = self.day(of: .init(seconds: second, nanoseconds: 0)).daysSinceEpoch < day.daysSinceEpoch
        return .init(seconds: isBefore ? max(first, second) : second, nanoseconds: 0)
    }

    /// The day in which a moment lies.
    package func day(of time: Timestamp) -> CivilDay {
        .init(daysSinceEpoch: (time.seconds + Int64(offset(time))).flooredQuotient(86_400))
    }

    /// The days of which a window has a part; none of an empty one.
    package func days(in window: Range<Instant>) -> [LocalDay] {
        guard !window.isEmpty else { return [] }
        let first = day(of: .init(nanosecondsSinceEpoch: window.lowerBound.nanoseconds)).daysSinceEpoch
        let last = day(of: .init(nanosecondsSinceEpoch: window.upperBound.nanoseconds - 1)).daysSinceEpoch
        return (first...max(first, last)).map { number in
            let date = CivilDay(daysSinceEpoch: number)
            let start = Instant(midnight(of: date))
            return .init(date: date, span: start..<max(start, Instant(midnight(of: .init(daysSinceEpoch: number + 1)))))
        }
    }
}
