import NetworkLab
import RequestGate

/// A randomized simulation of users, gates and servers around a scheduler in virtual time, which checks its invariants.
///
/// It uses only the scheduler's public interface, as a session does.
struct ModelWorld {
    enum Event {
        case act
        case settle
        case delayOver(Int)
        case attempt(Int, UInt32, AttemptEvent)
    }

    /// An event of an attempt.
    enum AttemptEvent {
        case head(isOverload: Bool, retryAfter: Duration?)
        case finished
        case failed(AttemptFailure)
    }

    static let second: Int64 = 1_000_000_000
    static let millisecond: Int64 = 1_000_000

    let seed: UInt64
    var random: SeededGenerator
    var jitter: SeededGenerator
    var scheduler: RequestScheduler
    let hasBreaker: Bool
    var now: Int64 = 1_000_000_000_000
    var queue: [(at: Int64, event: Event)] = []
    var requests: [ModelRequest] = []
    var live: [Int] = []
    var numbers: [RequestScheduler.RequestID: Int] = [:]
    var gates: [ModelGate] = []
    var hosts: [ModelHost] = []
    /// The number of attempts so far.
    var serial = 0
    /// The number of responses so far, including refusals.
    var responses = 0
    /// The time from which all gates and servers work.
    var settledAt = Int64.max / 2
    var actsLeft: Int
    let sizes: ModelSizes
    /// How often the scheduler's own timer fired with nothing to do.
    var idleWakes = 0
    var tally = ModelTally()
    /// The first violation of an invariant.
    private(set) var violation: String?

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        jitter = SeededGenerator(seed: ~seed)
        sizes = ModelSizes(using: &random)
        hasBreaker = Int.random(in: 0..<3, using: &random) == 0
        scheduler = RequestScheduler(
            breaker: hasBreaker ? .init(failureRatio: 0.5, minimumCalls: 5, breakDuration: .seconds(2)) : nil
        )
        actsLeft = sizes.acts
        for number in 0..<sizes.hosts {
            hosts.append(.init(id: scheduler.addHost()))
            addGate(of: number)
            if Int.random(in: 0..<3, using: &random) == 0 { addGate(of: number) }
        }
        plan(.act, after: 0)
    }

    var moment: BootInstant { .init(nanoseconds: now) }

    mutating func addGate(of host: Int) {
        let isOpen = !sizes.hasOneLink && Int.random(in: 0..<3, using: &random) == 0
        let id = scheduler.addGate(of: hosts[host].id, isOpen: isOpen, at: moment)
        gates.append(.init(id: id, host: host, isOpen: isOpen, closedAt: now))
    }

    mutating func check(_ condition: Bool, _ text: String) {
        if !condition { found(text) }
    }

    /// Records a violation unless there is one already.
    mutating func found(_ text: String) {
        guard violation == nil else { return }
        violation = "seed \(seed), \(Double(now - 1_000_000_000_000) / 1e9) s: \(text)"
    }

    // MARK: Time

    /// Runs the simulation to its end.
    mutating func play() {
        while violation == nil {
            let due = queue.last?.at
            let wanted = scheduler.nextMoment?.nanoseconds
            guard let next = [due, wanted].compactMap({ $0 }).min() else { break }
            if next == .max { break }
            now = max(now, next)
            if let due, due <= now, let event = queue.popLast()?.event {
                happen(event)
                drain()
            } else if drain() == 0 {
                idleWakes += 1
            }
            checkState()
        }
        checkEnd()
    }

    mutating func plan(_ event: Event, after delay: Int64) {
        let at = now + max(0, delay)
        let place = queue.lastIndex { $0.at > at }.map { $0 + 1 } ?? 0
        queue.insert((at, event), at: place)
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .act: act()
        case .settle: settle()
        case .delayOver(let number): endDelay(number)
        case .attempt(let number, let attempt, let event): hear(number, attempt, event)
        }
        recordIdleHosts()
    }

    /// Performs all actions of the scheduler, and returns their number.
    @discardableResult
    private mutating func drain() -> Int {
        var count = 0
        let most = 4 * (live.count + 1)
        while let action = scheduler.next(at: moment, using: &jitter) {
            count += 1
            if count > most { found("\(count) actions at one moment for \(live.count) requests") }
            if violation != nil { break }
            perform(action)
            recordIdleHosts()
        }
        check(scheduler.nextMoment.map { $0 > moment } ?? true, "the next moment is not in the future")
        return count
    }

    func chance(_ one: Int, in many: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<many, using: &random) < one
    }
}
