/// The thresholds at which the breaker opens, and the duration for which it stays open.
public struct CircuitBreakerPolicy: Sendable, Hashable {
    /// The share of calls, 0 to 1, that must fail.
    public var failureRatio: Double
    /// The minimum number of calls in the sampling period.
    public var minimumCalls: Int
    /// The sampling period over which calls are counted.
    public var samplingDuration: Duration
    /// The duration for which the breaker stays open.
    public var breakDuration: Duration

    /// Creates a policy.
    ///
    /// The defaults are those of Polly.
    public init(
        failureRatio: Double = 0.1,
        minimumCalls: Int = 100,
        samplingDuration: Duration = .seconds(30),
        breakDuration: Duration = .seconds(5)
    ) {
        self.failureRatio = failureRatio
        self.minimumCalls = minimumCalls
        self.samplingDuration = samplingDuration
        self.breakDuration = breakDuration
    }
}

/// Blocks requests to a host after too many recent failures, and then admits one trial request at a time.
///
/// | state | `allows` | `succeeded` | `failed` |
/// |---|---|---|---|
/// | closed | yes | counted | counted; opens once ``CircuitBreakerPolicy/failureRatio`` of at least ``CircuitBreakerPolicy/minimumCalls`` failed |
/// | open, during the break | no | ignored: the request was sent before | ignored |
/// | open, after the break | yes, for one request, which is the trial | | |
/// | on trial | no; after another break, yes for one more | closed, counts reset | open again |
///
/// A request that was sent before the breaker opened, and ends during a trial, can't be distinguished from the trial
/// request. It counts as the end of the trial.
package struct CircuitBreaker: Sendable {
    private enum State: Sendable {
        case closed
        case open(until: BootInstant)
        /// A trial request was admitted. Another one may be sent from this instant if the trial has not ended by then.
        case onTrial(until: BootInstant)
    }

    private let policy: CircuitBreakerPolicy
    private var state = State.closed
    private var recent: RecentCalls

    /// Creates a closed circuit breaker.
    package init(_ policy: CircuitBreakerPolicy = .init()) {
        self.policy = policy
        recent = .init(over: policy.samplingDuration)
    }

    /// Returns whether a request may be sent now.
    ///
    /// If the breaker was open, `true` admits this one request as the trial.
    package mutating func allows(at now: BootInstant) -> Bool {
        guard opens(at: now) == nil else { return false }
        if case .closed = state { return true }
        state = .onTrial(until: now.advanced(by: policy.breakDuration))
        return true
    }

    /// Returns when the next request may be sent; nil if one may be sent now.
    package func opens(at now: BootInstant) -> BootInstant? {
        switch state {
        case .closed: nil
        case .open(let until), .onTrial(let until): now < until ? until : nil
        }
    }

    /// Records the success of a request that was admitted.
    package mutating func succeeded(at now: BootInstant) {
        switch state {
        case .closed: recent.count(isFailure: false, at: now)
        case .open: break
        case .onTrial: close()
        }
    }

    /// Records the failure of a request that was admitted.
    ///
    /// Only failures that concern the host are recorded.
    package mutating func failed(at now: BootInstant) {
        switch state {
        case .closed:
            recent.count(isFailure: true, at: now)
            if isTooMuch { open(at: now) }
        case .open: break
        case .onTrial: open(at: now)
        }
    }

    /// Whether the breaker is closed and has no recent failures.
    var isPristine: Bool {
        guard case .closed = state else { return false }
        return recent.totals.failures == 0
    }

    private var isTooMuch: Bool {
        let (calls, failures) = recent.totals
        return calls >= max(policy.minimumCalls, 1) && Double(failures) >= policy.failureRatio * Double(calls)
    }

    private mutating func open(at now: BootInstant) {
        state = .open(until: now.advanced(by: policy.breakDuration))
    }

    private mutating func close() {
        state = .closed
        recent = .init(over: policy.samplingDuration)
    }
}

/// The number of recent calls and failures, counted in ten slots that expire one by one.
struct RecentCalls: Sendable {
    private struct Slot: Sendable {
        var number: Int64
        var calls = 0
        var failures = 0
    }

    private static let slotCount: Int64 = 10
    private let slotNanoseconds: Int64
    private var slots: [Slot] = []

    init(over duration: Duration) {
        slotNanoseconds = max(duration.clampedNanoseconds / Self.slotCount, 1)
    }

    /// The number of calls, and of failed calls, in the slots that have not expired.
    var totals: (calls: Int, failures: Int) {
        slots.reduce(into: (0, 0)) { totals, slot in
            totals.0 += slot.calls
            totals.1 += slot.failures
        }
    }

    /// Counts a call and removes expired slots.
    mutating func count(isFailure: Bool, at now: BootInstant) {
        let number = now.nanoseconds / slotNanoseconds
        slots.removeAll { number - $0.number >= Self.slotCount }
        if slots.last?.number != number { slots.append(Slot(number: number)) }
        slots[slots.endIndex - 1].calls += 1
        slots[slots.endIndex - 1].failures += isFailure ? 1 : 0
    }
}
