package import ReachabilityCore

/// The changes from before the live view was opened, as another monitor of the same machine recorded them.
package struct EarlierChanges: Sendable {
    /// A recorded change.
    package struct Entry: Sendable {
        /// The change.
        package var change: ReachabilityChange
        /// When it was recorded, by the wall clock.
        package var time: Timestamp
        /// The offset of local time from UTC at that time, in seconds east.
        package var utcOffset: Int

        /// Creates an entry.
        package init(_ change: ReachabilityChange, time: Timestamp, utcOffset: Int) {
            (self.change, self.time, self.utcOffset) = (change, time, utcOffset)
        }
    }

    /// The newest changes, the oldest first.
    package let entries: [Entry]
    /// Which state there was when, by nanoseconds since 1970.
    package let timeline: StateTimeline

    /// Creates a record of changes.
    package init(_ entries: [Entry], timeline: StateTimeline) { (self.entries, self.timeline) = (entries, timeline) }

    /// Returns the entries before a moment, if the last of them leads to the state that a monitor found then; otherwise nil.
    ///
    /// Another state means that the changes are those of another network namespace, or were evaluated with other options.
    func leading(to change: ReachabilityChange, at time: Timestamp) -> ArraySlice<Entry>? {
        let before = entries.prefix { $0.time < time }
        guard let last = before.last?.change, last.status == change.status,
            last.path.interface?.index == change.path.interface?.index,
            last.path.interface?.name == change.path.interface?.name,
            last.path.ipv4?.source == change.path.ipv4?.source, last.path.ipv6?.source == change.path.ipv6?.source
        else { return nil }
        return before
    }
}

/// The first change that the live view received, where earlier ones end.
struct FirstChange: Sendable {
    let change: ReachabilityChange
    /// The time by the wall clock.
    let time: ViewMoment
    /// The same moment on the clock of the timeline.
    let elapsed: Instant

    /// The offset from nanoseconds since 1970 to the clock of the timeline.
    var offset: Duration { .nanoseconds(elapsed.nanoseconds - time.time.nanosecondsSinceEpoch) }

    /// Returns the local time of a moment before it, with the offset of the first entry that is not before that.
    func localTime(of instant: Instant, _ entries: ArraySlice<EarlierChanges.Entry>) -> LocalTime {
        let nanoseconds = time.time.nanosecondsSinceEpoch - (elapsed.nanoseconds - instant.nanoseconds)
        let moment = Timestamp(nanosecondsSinceEpoch: nanoseconds)
        return .init(moment, utcOffset: entries.first { $0.time >= moment }?.utcOffset ?? time.utcOffset)
    }
}
