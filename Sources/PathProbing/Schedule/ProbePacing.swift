import ReachabilityCore
package import ValidationCore

/// The earliest time of the next round of probes that nobody asks for.
///
/// After each round there is a pause, which doubles up to ``ValidationConfiguration/maximumInterval``. It is short again after a
/// change of the path, and after a time as long as the longest pause without a round.
package struct ProbePacing: Sendable, Hashable {
    private let minimumInterval: Duration
    private let maximumInterval: Duration
    private var budget: ProbeBudget
    private var backoff: Backoff
    /// The end of the pause.
    private var pauseEnd: ValidationInstant?
    private var lastStart: ValidationInstant?

    /// Creates a pacing without rounds.
    package init(_ configuration: ValidationConfiguration) {
        minimumInterval = configuration.minimumInterval
        maximumInterval = configuration.maximumInterval
        budget = .init(limit: configuration.probesPerDay)
        backoff = .init(from: configuration.minimumInterval, to: configuration.maximumInterval)
    }

    /// Returns the earliest time for a round of this number of probes; nil if the budget can never pay for it.
    package func earliestTime(for count: Int, at now: ValidationInstant) -> ValidationInstant? {
        guard let affordable = budget.earliestTime(for: count, at: now) else { return nil }
        return max(affordable, earliestTimeOnDemand(at: now))
    }

    /// Returns the earliest time for a round that requests wait for, whatever the budget.
    package func earliestTimeOnDemand(at now: ValidationInstant) -> ValidationInstant {
        let spaced = lastStart.map { $0.advanced(by: minimumInterval) }
        return [spaced, pauseEnd].compactMap(\.self).max() ?? now
    }

    /// Records the start of a round.
    package mutating func roundStarted(at now: ValidationInstant) {
        if let lastStart, lastStart.duration(to: now) > maximumInterval { backoff.succeeded() }
        lastStart = now
    }

    /// Records a probe.
    package mutating func probeSent(at now: ValidationInstant) { budget.spend(at: now) }

    /// Records the end of a round, and begins a pause; a round that needs confirmation is repeated after the shortest.
    package mutating func roundEnded(at now: ValidationInstant, needsConfirmation: Bool) {
        pauseEnd = now.advanced(by: needsConfirmation ? minimumInterval : backoff.failed())
    }

    /// Ends the pause; further ones are as long as they would have been.
    package mutating func endPause() { pauseEnd = nil }

    /// Ends the pause; further ones are short again.
    package mutating func reset() {
        pauseEnd = nil
        backoff.succeeded()
    }
}
