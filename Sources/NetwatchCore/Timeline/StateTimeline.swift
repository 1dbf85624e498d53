package import ReachabilityCore

/// Which state there was when, in bounded memory.
///
/// The moments are those of any one clock that does not run back: one that is before another that was handed in counts
/// as that one. The live view takes `CLOCK_BOOTTIME`, a journal the moments that it was written with.
package struct StateTimeline: Sendable, Hashable {
    /// The stretches that have ended, in order and without gap; the oldest may have been merged into ``merged``.
    private var closed: [StateSpan] = []
    /// The current span.
    private var open: StateSpan
    /// The sum of everything older than the first of ``closed``.
    private var merged = Availability()
    /// The end of ``merged``.
    private var mergedEnd: Instant
    private let capacity: Int
    /// When the timeline begins.
    package let start: Instant

    /// Begins with a state.
    ///
    /// - Parameters:
    ///   - status: The state.
    ///   - start: When it begins.
    ///   - capacity: How many stretches are kept one by one, at least 8; of older ones only the sums.
    package init(_ status: ReachabilityStatus, at start: Instant, capacity: Int = 4096) {
        open = .init(status: status, start: start, end: start)
        mergedEnd = start
        self.capacity = max(capacity, 8)
        self.start = start
    }

    /// The state now.
    package var status: ReachabilityStatus { open.status }

    /// The last moment that was handed in.
    package var end: Instant { open.end }

    /// When the state that there is now began.
    package var since: Instant { open.start }

    /// Time has passed, without a change.
    package mutating func advance(to moment: Instant) { open.end = max(open.end, moment) }

    /// Changes the status from a time on.
    package mutating func note(_ status: ReachabilityStatus, at moment: Instant) {
        advance(to: moment)
        guard status != open.status else { return }
        closed.append(open)
        open = .init(status: status, start: open.end, end: open.end)
        if closed.count > capacity { mergeOldest() }
    }

    /// Nothing is known of the time between two moments, after which the state is what it was before.
    ///
    /// - Parameters:
    ///   - start: When that time began; if that is before the last moment that was handed in, it began then.
    ///   - end: When it ended.
    package mutating func noteGap(from start: Instant, to end: Instant) {
        let status = open.status
        note(.unknown, at: start)
        note(status, at: end)
    }

    /// Returns this timeline from a moment on, preceded by another one up to that moment.
    ///
    /// The other one's last state lasts until the moment. If it begins no earlier than that, nothing changes.
    ///
    /// - Parameters:
    ///   - earlier: The other timeline.
    ///   - offset: What to add to the moments of the other one's clock for those of this one's.
    ///   - moment: When the other one ends.
    /// - Returns: The joined timeline.
    package func continuing(_ earlier: Self, offset: Duration, from moment: Instant) -> Self {
        let spans = earlier.spans(in: earlier.start..<earlier.end).map { ($0.status, $0.start.advanced(by: offset)) }
        guard let (status, start) = spans.first, start < moment else { return self }
        var joined = Self(status, at: start, capacity: capacity)
        for (status, start) in spans where start < moment { joined.note(status, at: start) }
        joined.advance(to: moment)
        for span in self.spans(in: moment..<max(moment, end)) { joined.note(span.status, at: span.start) }
        joined.advance(to: end)
        return joined
    }

    /// The stretches within a window, clipped to it, the oldest first; what has been merged is missing.
    package func spans(in window: Range<Instant>) -> [StateSpan] {
        var found: [StateSpan] = []
        forEachSpan(in: window) { found.append($0) }
        return found
    }

    /// How available it was within a window, as far as stretches are kept one by one.
    package func availability(in window: Range<Instant>) -> Availability {
        var sum = Availability()
        forEachSpan(in: window) { sum.add($0.status, from: $0.start, to: $0.end) }
        return sum
    }

    /// How available it was since the start, until a moment.
    package func availability(until moment: Instant) -> Availability {
        var sum = merged
        forEachSpan(in: mergedEnd..<max(mergedEnd, moment)) { sum.add($0.status, from: $0.start, to: $0.end) }
        return sum
    }

    /// Calls a closure with each span that overlaps the window, and with empty ones within it or at its end.
    private func forEachSpan(in window: Range<Instant>, _ body: (StateSpan) -> Void) {
        for span in closed[firstSpan(endingAfter: window.lowerBound)...] {
            guard span.start <= window.upperBound else { return }
            if let part = span.part(in: window) { body(part) }
        }
        if let part = open.part(in: window) { body(part) }
    }

    /// The place in ``closed`` of the first stretch that ends at a moment or later, by bisection.
    private func firstSpan(endingAfter moment: Instant) -> Int {
        var low = 0
        var high = closed.count
        while low < high {
            let middle = (low + high) / 2
            if closed[middle].end < moment { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Merges an eighth in one step, so that the rest is rarely moved.
    private mutating func mergeOldest() {
        let count = capacity / 8
        for span in closed.prefix(count) {
            merged.add(span.status, from: span.start, to: span.end)
            mergedEnd = span.end
        }
        closed.removeFirst(count)
    }
}

/// A stretch of time in one state.
package struct StateSpan: Sendable, Hashable {
    /// The state.
    package var status: ReachabilityStatus
    /// When it began.
    package var start: Instant
    /// When it ended.
    package var end: Instant

    /// Returns the part within a window; empty if it is empty itself or begins at the end.
    fileprivate func part(in window: Range<Instant>) -> Self? {
        guard start <= window.upperBound, end > window.lowerBound || start >= window.lowerBound else { return nil }
        return .init(status: status, start: max(start, window.lowerBound), end: min(end, window.upperBound))
    }
}

/// How available the network was over some time.
///
/// An outage lasts from the first moment at which it was known not to be reachable until it is known to be reachable
/// again. What is unknown is neither: it does not count in ``share``, begins and ends no outage, and does not lengthen
/// one.
package struct Availability: Sendable, Hashable {
    /// For how long it was reachable.
    package private(set) var up = Duration.zero
    /// For how long it was not.
    package private(set) var down = Duration.zero
    /// For how long neither is known.
    package private(set) var unknown = Duration.zero
    /// How many outages there were, those counted that had begun before or have not ended.
    package private(set) var outages = 0
    /// The length of the longest.
    package private(set) var longest = Duration.zero
    /// The length of the newest, so far.
    package private(set) var newest = Duration.zero
    /// Whether the newest has not ended.
    package private(set) var isOut = false
    /// When the last one that has ended did so.
    package private(set) var lastEnd: Instant?

    /// Nothing yet.
    package init() {}

    /// The part of the known time in which it was reachable, in hundredths of a per cent, rounded down; nil if nothing
    /// is known.
    ///
    /// It is 10,000 only if there was no outage at all.
    package var share: Int? {
        let (up, down) = (Self.nanoseconds(up), Self.nanoseconds(down))
        guard up > 0 || down > 0 else { return outages > 0 ? 0 : nil }
        if outages == 0 { return 10_000 }
        return min(Int(up * 10_000 / (up + down)), 9_999)
    }

    /// Adds a stretch of time in one state, which follows the one added before.
    package mutating func add(_ status: ReachabilityStatus, from start: Instant, to end: Instant) {
        let length = start.duration(to: max(start, end))
        switch status {
        case .unknown: unknown += length
        case .notReachable: addOutage(length)
        case .cellular, .wifi:
            up += length
            if isOut { (isOut, lastEnd) = (false, start) }
        }
    }

    private mutating func addOutage(_ length: Duration) {
        if !isOut {
            (isOut, newest) = (true, .zero)
            outages += 1
        }
        newest += length
        down += length
        longest = max(longest, newest)
    }

    private static func nanoseconds(_ duration: Duration) -> Int128 { duration.attoseconds / 1_000_000_000 }
}
