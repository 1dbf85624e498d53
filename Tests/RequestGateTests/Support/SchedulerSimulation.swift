import NetworkClientCore
import RequestGate

/// A simulation of a ``RequestScheduler`` whose requests waited for a path to one server, starting when the path is
/// back.
struct SchedulerSimulation<Generator: RandomNumberGenerator> {
    private enum Event {
        case arrives(Attempt)
        case served(Attempt)
        case answered(Attempt)
        case refused(Attempt)
    }

    private struct Attempt {
        var id: RequestScheduler.RequestID
        var number: UInt32
    }

    /// The way in which the server rejects requests.
    enum Refusal: CaseIterable {
        case status503
        case noConnection

        var failure: AttemptFailure {
            switch self {
            case .status503: .init(.status(503), .answered)
            case .noConnection: .init(.refused, .neverSent)
            }
        }
    }

    private var scheduler = RequestScheduler()
    private var generator: Generator
    private var server: CrowdedServer
    private let refusal: Refusal
    private let policy: RetryPolicy
    private let gate: RequestScheduler.GateID
    private var time = VirtualTime<Event>()
    private var outcome = ReleaseOutcome()

    init(
        requests: Int = 10_000,
        to server: CrowdedServer,
        refusing refusal: Refusal = .status503,
        policy: RetryPolicy = .standard,
        using generator: Generator
    ) {
        self.server = server
        self.refusal = refusal
        self.policy = policy
        self.generator = generator
        gate = scheduler.addGate(of: scheduler.addHost(), isOpen: false, at: time.now)
        let order = RequestScheduler.Order(gate: gate, traits: .init(isIdempotent: true, isReplayable: true))
        for _ in 0..<requests { _ = scheduler.submit(order, at: time.now) }
    }

    /// Runs the simulation until nothing can happen any more.
    mutating func run() -> ReleaseOutcome {
        scheduler.set(gate, isOpen: true, at: time.now)
        while true {
            while let action = scheduler.next(at: time.now, using: &generator) { carryOut(action) }
            switch (time.nextMoment, scheduler.nextMoment) {
            case (nil, nil):
                outcome.left = scheduler.count
                outcome.end = BootInstant(nanoseconds: 0).duration(to: time.now)
                return outcome
            case (let event?, let timer) where event <= timer ?? .never:
                if let event = time.next() { handle(event) }
            case (_, let timer):
                time.wait(until: timer ?? time.now)
            }
        }
    }

    private mutating func carryOut(_ action: RequestScheduler.Action) {
        switch action {
        case .start(let id, let attempt):
            time.schedule(.arrives(.init(id: id, number: attempt)), after: server.transit)
        case .fail: outcome.failed += 1
        }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .arrives(let attempt):
            switch server.arrive(at: time.now, using: &generator) {
            case .serves(let duration): time.schedule(.served(attempt), after: duration)
            case .refuses(let delay): time.schedule(.refused(attempt), after: delay + server.transit)
            }
        case .served(let attempt):
            server.leave()
            time.schedule(.answered(attempt), after: server.transit)
        case .answered(let attempt):
            scheduler.receivedHead(attempt.id, attempt: attempt.number, isOverload: false, at: time.now)
            scheduler.finished(attempt.id, at: time.now)
            outcome.total = BootInstant(nanoseconds: 0).duration(to: time.now)
        case .refused(let attempt): refuse(attempt)
        }
    }

    private mutating func refuse(_ attempt: Attempt) {
        outcome.refused += 1
        if refusal == .status503 {
            scheduler.receivedHead(attempt.id, attempt: attempt.number, isOverload: true, at: time.now)
        }
        let failure = refusal.failure
        let decision = scheduler.decision(on: attempt.id, failure, policy, at: time.now, using: &generator)
        let goesOn = scheduler.ended(
            attempt.id,
            attempt: attempt.number,
            failure,
            decision,
            at: time.now,
            using: &generator
        )
        if !goesOn { outcome.failed += 1 }
    }
}
