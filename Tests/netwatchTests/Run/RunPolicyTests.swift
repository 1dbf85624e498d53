import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct RunPolicyTests {
    @Test(arguments: [
        (ChildProcess.Outcome.exited(0), true, false, UInt(3), RunPolicy.Step.exit(.success)),
        (.exited(7), false, false, 3, .exit(.init(rawValue: 7))),
        (.exited(7), true, true, 3, .exit(.init(rawValue: 7))),
        (.exited(7), true, false, 0, .exit(.init(rawValue: 7))), (.exited(7), true, false, 1, .again),
        (.ended(signal: 9), true, false, 1, .again), (.ended(signal: 9), false, false, 1, .exit(.init(rawValue: 137))),
        (.ended(signal: 15), true, true, 1, .exit(.init(rawValue: 143))),
    ])
    func `what follows`(
        outcome: ChildProcess.Outcome,
        wasAway: Bool,
        wasToldToEnd: Bool,
        retries: UInt,
        step: RunPolicy.Step
    ) {
        var policy = RunPolicy(retries: retries)
        #expect(policy.next(after: outcome, wasAway: wasAway, wasToldToEnd: wasToldToEnd) == step)
        #expect(policy.retriesLeft == (step == .again ? retries - 1 : retries))
    }

    @Test func `no more runs than allowed`() {
        var policy = RunPolicy(retries: 2)
        #expect(policy.next(after: .exited(1), wasAway: true, wasToldToEnd: false) == .again)
        #expect(policy.next(after: .exited(1), wasAway: true, wasToldToEnd: false) == .again)
        #expect(policy.next(after: .exited(1), wasAway: true, wasToldToEnd: false) == .exit(.notReachable))
    }
}
