public import ReachabilityCore

extension Outage {
    /// For how long it is known to have lasted, and how much of it is unknown: `30 min`, `10 min so far`,
    /// `0 ms and 2 h unknown`.
    ///
    /// - Parameters:
    ///   - history: What it is of.
    ///   - end: Up to when it counts if nothing tells its end.
    /// - Returns: The words.
    func length(in history: History, until end: Instant) -> String {
        let sum = history.timeline.availability(in: start..<(self.end ?? max(start, end)))
        let known = DurationText.length(sum.down) + (self.end == nil ? " so far" : "")
        return sum.unknown > .zero ? "\(known) and \(DurationText.length(sum.unknown)) unknown" : known
    }
}

extension History {
    /// The part of a time of which there are records.
    ///
    /// - Parameters:
    ///   - since: When it begins; nil for the first record.
    ///   - until: When it ends; nil for the last record, else its state lasted until then, but not beyond now.
    ///   - now: The present moment.
    /// - Returns: The part; nil if there is none.
    public mutating func window(since: Timestamp?, until: Timestamp?, now: Timestamp) -> Range<Instant>? {
        if let until { extend(to: min(until, now)) }
        let start = max(since.map { Instant($0) } ?? timeline.start, timeline.start)
        let end = min(until.map { Instant($0) } ?? timeline.end, timeline.end)
        return start <= end ? start..<end : nil
    }

    /// The days of a window of which something is known, each with how available it was in it.
    ///
    /// What begins at midnight is of the new day, and only at the window's end of the day before.
    func knownDays(
        _ days: LocalDays,
        in window: Range<Instant>
    ) -> [(day: LocalDay, availability: Availability)] {
        days.days(in: window).compactMap { day in
            let part = day.span.clamped(to: window)
            var sum = Availability()
            for span in timeline.spans(in: part)
            where span.start < part.upperBound || part.upperBound == window.upperBound {
                sum.add(span.status, from: span.start, to: span.end)
            }
            return sum.up > .zero || sum.down > .zero || sum.outages > 0 ? (day, sum) : nil
        }
    }

    /// The outages that have a part in a window, also those that begin with its end, as ``timeline`` counts them.
    func outages(in window: Range<Instant>) -> [Outage] {
        outages.filter { outage in
            outage.start <= window.upperBound
                && (outage.start >= window.lowerBound || outage.end.map { $0 > window.lowerBound } ?? true)
        }
    }
}
