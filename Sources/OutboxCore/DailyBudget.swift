/// The bytes that a lane may send over expensive paths within a day.
///
/// A day lasts 24 hours from the first byte that is counted, on the outbox's clock: it survives a restart, and no jump of
/// the wall clock ends it early.
package struct DailyBudget: Sendable, Hashable {
    /// The bytes that were counted since ``start``.
    package private(set) var spent: Int64
    /// The beginning of the day; nil before the first byte.
    package private(set) var start: BoxTime?

    package init(spent: Int64 = 0, start: BoxTime? = nil) { (self.spent, self.start) = (spent, start) }

    /// The end of the day; nil before the first byte.
    package var end: BoxTime? { start?.advanced(by: .seconds(86_400)) }

    /// Returns the end of the day; nil before the first byte, or if the day is over.
    package func end(after now: BoxTime) -> BoxTime? { isOver(at: now) ? nil : end }

    /// Returns how many of the bytes are left.
    package func room(of limit: Int64, at now: BoxTime) -> Int64 {
        max(limit.subtractingClamped(isOver(at: now) ? 0 : spent), 0)
    }

    /// Counts bytes.
    package mutating func spend(_ bytes: Int64, at now: BoxTime) {
        if isOver(at: now) { (spent, start) = (0, now) }
        spent = spent.addingClamped(max(bytes, 0))
    }

    private func isOver(at now: BoxTime) -> Bool { end.map { $0 <= now } ?? true }
}
