import NetworkLab
import RequestGate

/// A random world around a scheduler: users, gates and servers, in virtual time, and what must hold of what comes out.
///
/// It drives the scheduler through its public face alone, as a session does, and knows nothing of its inside.
struct ModelWorld {
    enum Event {
        case act
        case settle
        case delayOver(Int)
        case attempt(Int, UInt32, News)
    }

    /// What comes of an attempt.
    enum News {
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
    /// How many attempts there were in all.
    var serial = 0
    /// How many answers there were in all, refusals included.
    var answers = 0
    /// When all was well from then on.
    var settledAt = Int64.max / 2
    var actsLeft: Int
    let sizes: ModelSizes
    /// Woken by the scheduler's own timer though it had nothing to do.
    var idleWakes = 0
    var tally = ModelTally()
    /// What was found wrong, first of all.
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

    /// Something is wrong; the first is kept.
    mutating func found(_ text: String) {
        guard violation == nil else { return }
        violation = "seed \(seed), \(Double(now - 1_000_000_000_000) / 1e9) s: \(text)"
    }

    // MARK: Time

    /// Plays the story to its end.
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
        case .attempt(let number, let attempt, let news): hear(number, attempt, news)
        }
        noteIdleHosts()
    }

    /// Does all that the scheduler has to say; how much that was.
    @discardableResult
    private mutating func drain() -> Int {
        var count = 0
        let most = 4 * (live.count + 1)
        while let action = scheduler.next(at: moment, using: &jitter) {
            count += 1
            if count > most { found("\(count) actions at one moment for \(live.count) requests") }
            if violation != nil { break }
            perform(action)
            noteIdleHosts()
        }
        check(scheduler.nextMoment.map { $0 > moment } ?? true, "the next moment is not in the future")
        return count
    }

    func chance(_ one: Int, in many: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<many, using: &random) < one
    }
}
