import ReachabilityCore

/// When a name is resolved: at once, after changes of the network, sooner again while that fails, and now and then.
///
/// One attempt at a time: an answer may take half a minute, and each that is awaited costs a thread.
struct ResolutionSchedule: Hashable {
    /// When the next attempt begins; nil while one goes on.
    private var next: Instant? = .init(nanoseconds: 0)
    /// When the attempt that goes on counts as failed; nil if it does already, or none goes on.
    private var patienceEnd: Instant?
    private var earliest = Instant(nanoseconds: 0)
    private var hasChanged = false
    private var pause = Self.shortestPause

    /// Between two attempts.
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// An answer is good for so long: name servers' own times to live are not told.
    private static let refresh = Duration.seconds(300)
    /// How long an answer may take before the user is told.
    private static let patience = Duration.seconds(10)

    /// When to look again.
    var deadline: Instant? { [next, patienceEnd].compactMap(\.self).min() }

    /// Whether an attempt is to begin.
    func isDue(at now: Instant) -> Bool { next.map { $0 <= now } ?? false }

    /// Whether the attempt that goes on has just begun to count as failed.
    mutating func isOverdue(at now: Instant) -> Bool {
        guard let end = patienceEnd, end <= now else { return false }
        patienceEnd = nil
        return true
    }

    /// Notes that an attempt begins.
    mutating func noteStart(at now: Instant) {
        next = nil
        hasChanged = false
        earliest = now.advanced(by: Self.shortestPause)
        patienceEnd = now.advanced(by: Self.patience)
    }

    /// Notes that an attempt has ended.
    mutating func noteEnd(hasSucceeded: Bool, at now: Instant) {
        patienceEnd = nil
        next = now.advanced(by: hasSucceeded ? Self.refresh : pause)
        pause = hasSucceeded ? Self.shortestPause : min(pause * 2, Self.longestPause)
        if hasChanged { noteChange(at: now) }
    }

    /// Notes that the network has changed, which may be what the name server waited for.
    mutating func noteChange(at now: Instant) {
        pause = Self.shortestPause
        guard let planned = next else {
            hasChanged = true
            return
        }
        next = min(planned, max(now, earliest))
    }
}
