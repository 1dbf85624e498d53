/// Lets no request go to a host of which too many have failed of late, and one at a time when it tries again.
///
/// | state | `allows` | `succeeded` | `failed` |
/// |---|---|---|---|
/// | closed | yes | counted | counted; open, once ``Policy/failureRatio`` of at least ``Policy/minimumCalls`` failed |
/// | open, until the break is over | no | not counted: it went before | not counted |
/// | open, afterwards | yes, one: on trial | | |
/// | on trial | no; again one if nothing was heard for another break | closed, all forgotten | open again |
///
/// What went out before it opened and ends while one is on trial can't be told from that one, and counts as its end.
public struct CircuitBreaker: Sendable {
    /// When it opens, and for how long.
    public struct Policy: Sendable, Hashable {
        /// The share of calls, 0 to 1, that has to fail.
        public var failureRatio: Double
        /// How many calls there have to be before their share counts.
        public var minimumCalls: Int
        /// Over how long they are counted.
        public var samplingDuration: Duration
        /// How long it then stays open.
        public var breakDuration: Duration

        /// Sets each number; what is not said is as in Polly.
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

    private enum State: Sendable {
        case closed
        case open(until: BootInstant)
        /// One was let through; another may be if nothing is heard of it until then.
        case onTrial(until: BootInstant)
    }

    private let policy: Policy
    private var state = State.closed
    private var recent: RecentCalls

    /// Makes a closed one.
    public init(_ policy: Policy = .init()) {
        self.policy = policy
        recent = .init(over: policy.samplingDuration)
    }

    /// Whether a request may go now.
    ///
    /// Once it has opened, a yes is for this one request, on whose end it waits.
    public mutating func allows(at now: BootInstant) -> Bool {
        guard opens(at: now) == nil else { return false }
        if case .closed = state { return true }
        state = .onTrial(until: now.advanced(by: policy.breakDuration))
        return true
    }

    /// When the next request may go; nil if one may go now.
    public func opens(at now: BootInstant) -> BootInstant? {
        switch state {
        case .closed: nil
        case .open(let until), .onTrial(let until): now < until ? until : nil
        }
    }

    /// A request that was let through has succeeded.
    public mutating func succeeded(at now: BootInstant) {
        switch state {
        case .closed: recent.count(isFailure: false, at: now)
        case .open: break
        case .onTrial: close()
        }
    }

    /// A request that was let through has failed, in a way that says something about the host.
    public mutating func failed(at now: BootInstant) {
        switch state {
        case .closed:
            recent.count(isFailure: true, at: now)
            if isTooMuch { open(at: now) }
        case .open: break
        case .onTrial: open(at: now)
        }
    }

    /// Whether it holds nothing against its host.
    var isUntroubled: Bool {
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

/// How many calls there were of late and how many of them failed, in ten slots that are forgotten one by one.
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

    /// How many calls of the slots that are still there, and how many failures.
    var totals: (calls: Int, failures: Int) {
        slots.reduce(into: (0, 0)) { totals, slot in
            totals.0 += slot.calls
            totals.1 += slot.failures
        }
    }

    /// Counts a call and forgets those that are too long ago.
    mutating func count(isFailure: Bool, at now: BootInstant) {
        let number = now.nanoseconds / slotNanoseconds
        slots.removeAll { number - $0.number >= Self.slotCount }
        if slots.last?.number != number { slots.append(Slot(number: number)) }
        slots[slots.endIndex - 1].calls += 1
        slots[slots.endIndex - 1].failures += isFailure ? 1 : 0
    }
}
