/// The states of an activity indicator, which does not flicker for short activities and short pauses.
///
/// Times are nanoseconds of any clock that does not go back.
package struct ActivityState: Sendable, Hashable {
    /// A state.
    package enum Phase: Sendable, Hashable {
        /// Nothing has been active.
        case notActive
        /// Something is active, but not long enough to be shown.
        case delayingStart
        /// Activity is shown.
        case active
        /// Activity is shown although nothing is active any more.
        case delayingEnd
    }

    private let startDelay: Int64
    private let endDelay: Int64
    /// The current state.
    package private(set) var phase = Phase.notActive
    /// The number of activities.
    package private(set) var count = 0
    /// The time at which ``advance(to:)`` is to be called; nil for none.
    package private(set) var deadline: Int64?

    /// Creates an inactive state.
    ///
    /// - Parameters:
    ///   - startDelay: The time for which something is active before it is shown, in nanoseconds.
    ///   - endDelay: The time for which it is shown after the end, in nanoseconds.
    package init(startDelay: Int64, endDelay: Int64) {
        self.startDelay = max(0, startDelay)
        self.endDelay = max(0, endDelay)
    }

    /// Whether activity is shown.
    package var isVisible: Bool { phase == .active || phase == .delayingEnd }

    /// Adds an activity.
    package mutating func begin(at now: Int64) {
        advance(to: now)
        count += 1
        switch phase {
        case .notActive: enter(.delayingStart, until: now.addingReportingOverflow(startDelay).partialValue, now)
        case .delayingEnd: (phase, deadline) = (.active, nil)
        case .delayingStart, .active: break
        }
    }

    /// Removes an activity.
    package mutating func end(at now: Int64) {
        advance(to: now)
        guard count > 0 else { return }
        count -= 1
        guard count == 0 else { return }
        switch phase {
        case .delayingStart: (phase, deadline) = (.notActive, nil)
        case .active: enter(.delayingEnd, until: now.addingReportingOverflow(endDelay).partialValue, now)
        case .notActive, .delayingEnd: break
        }
    }

    private mutating func enter(_ phase: Phase, until deadline: Int64, _ now: Int64) {
        (self.phase, self.deadline) = (phase, deadline)
        advance(to: now)
    }

    /// Ends a delay that has passed.
    package mutating func advance(to now: Int64) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        phase = phase == .delayingStart ? .active : .notActive
    }
}
