import CommandLineSupport
import NetworkLab
import Testing

@testable import netwatch

@Suite struct RunPolicyTests {
    /// The exit code; nil if the command runs again.
    private func next(
        _ policy: inout RunPolicy,
        _ outcome: ChildProcess.Outcome,
        wasAway: Bool = true,
        wasTerminated: Bool = false
    ) -> Int32? {
        var generator = SeededGenerator(seed: 1)
        let step = policy.next(after: outcome, wasAway: wasAway, wasTerminated: wasTerminated, using: &generator)
        if case .exit(let status) = step { return status.rawValue }
        return nil
    }

    @Test(
        arguments: [
            (.exited(0), true, false, 3, 0), (.exited(7), false, false, 3, 7), (.exited(7), true, true, 3, 7),
            (.exited(7), true, false, 0, 7), (.exited(7), true, false, 1, nil), (.exited(7), true, false, .max, nil),
            (.ended(signal: 9), true, false, 1, nil), (.ended(signal: 9), false, false, 1, 137),
            (.ended(signal: 15), true, true, 1, 143),
        ] as [(ChildProcess.Outcome, Bool, Bool, UInt, Int32?)]
    )
    func `the outcome decides whether the command runs again`(
        outcome: ChildProcess.Outcome,
        wasAway: Bool,
        wasTerminated: Bool,
        retries: UInt,
        code: Int32?
    ) {
        var policy = RunPolicy(retries: retries)
        #expect(next(&policy, outcome, wasAway: wasAway, wasTerminated: wasTerminated) == code)
    }

    @Test func `the number of runs is limited`() {
        var policy = RunPolicy(retries: 2)
        #expect(next(&policy, .exited(1)) == nil)
        #expect(next(&policy, .exited(1)) == nil)
        #expect(next(&policy, .exited(1)) == 1)
    }

    @Test func `the delay grows while a command keeps failing immediately`() throws {
        var generator = SeededGenerator(seed: 1)
        var policy = RunPolicy(retries: 400)
        let delays = (0..<400).compactMap { _ -> Duration? in
            let step = policy.next(after: .exited(1), wasAway: true, wasTerminated: false, using: &generator)
            guard case .again(let delay) = step else { return nil }
            return delay
        }
        #expect(delays.count == 400)
        #expect(try #require(delays.first) <= .milliseconds(500))
        let longest = try #require(delays.max())
        #expect(longest > .seconds(19) && longest <= .seconds(20))
    }
}
