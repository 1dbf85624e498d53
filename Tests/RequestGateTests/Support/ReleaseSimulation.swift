import RequestGate

/// The result of a simulated release.
struct ReleaseOutcome: Hashable {
    var failed = 0
    var refused = 0
    var total = Duration.zero
    /// The time of the last event.
    var end = Duration.zero
    /// The number of requests that got no response and did not fail.
    var left = 0
}

/// A simulation, in virtual time, of many requests to one server that are released by a strategy.
struct ReleaseSimulation<Strategy: ReleaseStrategy, Generator: RandomNumberGenerator> {
    private enum Event {
        case arrives(Attempt)
        case served(Attempt)
        case answered(Attempt)
        case refused(Attempt)
        case backedOff(Int)
    }

    private struct Attempt {
        var request: Int
        var ticket: UInt32
    }

    private var strategy: Strategy
    private var generator: Generator
    private var server: CrowdedServer
    private let policy: RetryPolicy
    private var time = VirtualTime<Event>()
    private var line: [Int]
    private var lineStart = 0
    private var attempts: [Int]
    private var inFlight = 0
    private var budget = 500
    private var outcome = ReleaseOutcome()

    init(
        requests: Int = 10_000,
        to server: CrowdedServer,
        by strategy: Strategy,
        policy: RetryPolicy = .standard,
        using generator: Generator
    ) {
        self.strategy = strategy
        self.server = server
        self.policy = policy
        self.generator = generator
        line = Array(0..<requests)
        attempts = Array(repeating: 0, count: requests)
    }

    /// Runs the simulation to its end.
    mutating func run() -> ReleaseOutcome {
        release()
        while let event = time.next() { handle(event) }
        return outcome
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .arrives(let attempt): arrive(attempt)
        case .served(let attempt):
            server.leave()
            time.schedule(.answered(attempt), after: server.transit)
        case .answered(let attempt):
            inFlight -= 1
            budget = min(500, budget + 1)
            outcome.total = BootInstant(nanoseconds: 0).duration(to: time.now)
            strategy.succeeded(attempt.ticket)
        case .refused(let attempt): refuse(attempt)
        case .backedOff(let request): line.append(request)
        }
        release()
    }

    private mutating func release() {
        while lineStart < line.count, inFlight < strategy.limit {
            let request = line[lineStart]
            lineStart += 1
            inFlight += 1
            attempts[request] += 1
            time.schedule(.arrives(Attempt(request: request, ticket: strategy.started())), after: server.transit)
        }
    }

    private mutating func arrive(_ attempt: Attempt) {
        switch server.arrive(at: time.now, using: &generator) {
        case .serves(let duration): time.schedule(.served(attempt), after: duration)
        case .refuses(let delay): time.schedule(.refused(attempt), after: delay + server.transit)
        }
    }

    private mutating func refuse(_ attempt: Attempt) {
        inFlight -= 1
        outcome.refused += 1
        strategy.overloaded(attempt.ticket)
        let request = attempt.request
        if attempts[request] == policy.maximumAttempts {
            outcome.failed += 1
        } else if strategy.requeuesRejected {
            line.append(request)
        } else if budget < 5 {
            outcome.failed += 1
        } else {
            budget -= 5
            time.schedule(.backedOff(request), after: backoff(before: attempts[request]))
        }
    }

    private mutating func backoff(before attempt: Int) -> Duration {
        let bound = min(policy.maximumDelay, policy.baseDelay * (1 << (attempt - 1)))
        return .nanoseconds(Int64.random(in: 0...bound.clampedNanoseconds, using: &generator))
    }
}
