import ReachabilityCore

/// Decides when a hook runs and when it is terminated: hooks never overlap, and the newest change is never lost.
struct HookSchedule {
    /// The action to take.
    enum Action: Hashable {
        /// Nothing now.
        case nothing
        /// Start the hook with the newest change.
        case start
        /// Ask it to end (`SIGTERM`).
        case terminate
        /// End it (`SIGKILL`).
        case kill
    }

    /// The time between SIGTERM and SIGKILL.
    private static let grace = Duration.seconds(5)

    /// When it is tried again to start one that could not be started.
    static let pause = Duration.seconds(1)

    private enum Phase: Hashable {
        case idle
        case failed(until: Instant)
        case running(until: Instant)
        case asked(until: Instant)
        case killed
    }

    private let limit: Duration
    private var phase = Phase.idle
    private var isWaiting = false
    private var isClosed = false

    /// Takes how long a hook may run.
    init(limit: Duration) { self.limit = limit }

    /// Whether no hook runs.
    var isIdle: Bool {
        switch phase {
        case .idle, .failed: true
        case .running, .asked, .killed: false
        }
    }

    /// Whether it was terminated before it ended by itself.
    var wasAsked: Bool {
        switch phase {
        case .idle, .failed, .running: false
        case .asked, .killed: true
        }
    }

    /// When ``tick(at:)`` is due; nil for never.
    var deadline: Instant? {
        switch phase {
        case .idle, .killed: nil
        case .failed(let end), .running(let end), .asked(let end): end
        }
    }

    /// Takes a change, which is newer than all earlier ones.
    mutating func post() -> Action {
        guard !isClosed else { return .nothing }
        guard phase == .idle else {
            isWaiting = true
            return .nothing
        }
        return .start
    }

    /// The hook could not be started; it is tried again, with the newest change then.
    mutating func noteFailure(at now: Instant) {
        phase = isClosed ? .idle : .failed(until: now.advanced(by: Self.pause))
    }

    /// The hook was started.
    mutating func noteStart(at now: Instant) {
        isWaiting = false
        phase = .running(until: now.advanced(by: limit))
    }

    /// Handles the end of the hook; a change may have arrived meanwhile.
    mutating func noteEnd() -> Action {
        phase = .idle
        return isWaiting && !isClosed ? .start : .nothing
    }

    /// Time has passed.
    mutating func tick(at now: Instant) -> Action {
        guard let deadline, now >= deadline else { return .nothing }
        switch phase {
        case .running: return ask(at: now)
        case .failed:
            phase = .idle
            return .start
        case .idle, .asked, .killed:
            phase = .killed
            return .kill
        }
    }

    /// Prevents further hooks; a running one may continue.
    mutating func close() {
        isClosed = true
        if isIdle { phase = .idle }
    }

    /// The one that runs is to end now.
    mutating func endNow(at now: Instant) -> Action {
        if case .running = phase { return ask(at: now) }
        return .nothing
    }

    private mutating func ask(at now: Instant) -> Action {
        phase = .asked(until: now.advanced(by: Self.grace))
        return .terminate
    }
}
