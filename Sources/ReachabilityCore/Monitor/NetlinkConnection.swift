/// Whether the netlink sockets work, and when to open them again if they do not.
struct NetlinkConnection: Sendable, Hashable {
    /// Whether the sockets are open.
    private(set) var isUp = true
    private var failingSince: Instant?
    private var nextAttempt: Instant?
    private var isReported = false
    private var backoff = Pacing.netlinkRetry

    /// When to act although nothing was received.
    var deadline: Instant? {
        guard !isUp else { return nil }
        guard !isReported, let failingSince else { return nextAttempt }
        let report = failingSince.advanced(by: Pacing.failureReport)
        return min(nextAttempt ?? report, report)
    }

    /// Records that the sockets failed, and schedules the next attempt: immediately after the first failure.
    mutating func fail(at now: Instant) {
        guard isUp else { return }
        isUp = false
        let delay = backoff.failed()
        nextAttempt = now.advanced(by: failingSince == nil ? .zero : delay)
        failingSince = failingSince ?? now
    }

    /// Records that the sockets could not be opened.
    mutating func failAgain(at now: Instant) { nextAttempt = now.advanced(by: backoff.failed()) }

    /// Records that the sockets are open; ``markWorking()`` confirms that they work.
    mutating func open() { isUp = true }

    /// Records that everything was read through the sockets.
    mutating func markWorking() {
        failingSince = nil
        isReported = false
        backoff.succeeded()
    }

    /// Returns whether to open the sockets now; the caller then reports the result.
    mutating func takeAttempt(at now: Instant) -> Bool {
        guard !isUp, let moment = nextAttempt, moment <= now else { return false }
        nextAttempt = nil
        return true
    }

    /// Returns, once, whether the failure has lasted long enough to be reported.
    mutating func takeReport(at now: Instant) -> Bool {
        guard !isReported, let failingSince, failingSince.advanced(by: Pacing.failureReport) <= now else {
            return false
        }
        isReported = true
        return true
    }
}
