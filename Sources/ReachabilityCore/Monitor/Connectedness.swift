/// Whether the netlink sockets work, and when to try again if not.
struct Connectedness: Sendable, Hashable {
    /// Whether they are open.
    private(set) var isUp = true
    private var failingSince: Instant?
    private var nextAttempt: Instant?
    private var isReported = false
    private var backoff = Backoff(from: .milliseconds(10), to: .seconds(5))

    /// How long the sockets may fail before the state is called unknown.
    private static let patience = Duration.seconds(1)

    /// When to act though nothing was received.
    var deadline: Instant? {
        guard !isUp else { return nil }
        guard !isReported, let failingSince else { return nextAttempt }
        let report = failingSince.advanced(by: Self.patience)
        return min(nextAttempt ?? report, report)
    }

    /// The sockets failed: they are to be opened again, at once unless that was in vain before.
    mutating func fail(at now: Instant) {
        guard isUp else { return }
        isUp = false
        failingSince = failingSince ?? now
        nextAttempt = now.advanced(by: backoff.failures == 0 ? .zero : backoff.failed())
        if backoff.failures == 0 { _ = backoff.failed() }
    }

    /// They could not be opened.
    mutating func failAgain(at now: Instant) { nextAttempt = now.advanced(by: backoff.failed()) }

    /// They are open; whether they work is known once everything has been read.
    mutating func open() { isUp = true }

    /// Everything was read.
    mutating func prove() {
        failingSince = nil
        isReported = false
        backoff.succeeded()
    }

    /// Whether to open them now; then the outcome must be told.
    mutating func takeAttempt(at now: Instant) -> Bool {
        guard !isUp, let moment = nextAttempt, moment <= now else { return false }
        nextAttempt = nil
        return true
    }

    /// Whether the failure lasts too long, and that is not yet reported.
    mutating func takeReport(at now: Instant) -> Bool {
        guard !isReported, let failingSince, failingSince.advanced(by: Self.patience) <= now else { return false }
        isReported = true
        return true
    }
}
