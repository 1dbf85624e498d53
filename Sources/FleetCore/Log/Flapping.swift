import NetwatchCore
import ReachabilityCore

/// Whether a state changes too often: five times within an hour, until 30 min have passed without a change.
struct Flapping: Hashable, Sendable {
    /// When it ends, if no further change follows, in nanoseconds since 1970; nil if it does not flap.
    private(set) var end: Int64?
    /// The changes since the last quiet time.
    private var changes: [Int64] = []

    private static let count = 5
    private static let window = Span.hour
    private static let quiet = 30 * Span.minute

    /// - Parameters:
    ///   - changes: The times of the changes in nanoseconds since 1970, in order.
    ///   - now: The present.
    init(_ changes: some Sequence<Int64>, at now: Int64) {
        for change in changes where change <= now { add(change) }
        settle(at: now)
    }

    private mutating func add(_ change: Int64) {
        settle(at: change)
        changes.append(change)
        if changes.count > Self.count { changes.removeFirst() }
        let isOften = changes.count == Self.count && change - changes[0] <= Self.window
        if isOften || end != nil { end = change + Self.quiet }
    }

    /// Ends it if the quiet time has passed; the changes before that do not count again.
    private mutating func settle(at now: Int64) {
        if let end, now >= end { (self.end, changes) = (nil, []) }
    }
}

extension StateTimeline {
    /// When the state changed within a window, in nanoseconds since 1970: an unknown state in between is no change.
    func changes(in window: Range<Instant>) -> [Int64] {
        let known = spans(in: window).filter { $0.status != .unknown }
        return zip(known, known.dropFirst()).compactMap { $0.status == $1.status ? nil : $1.start.nanoseconds }
    }
}
