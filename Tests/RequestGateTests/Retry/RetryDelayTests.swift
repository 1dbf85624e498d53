import NetworkClientCore
import NetworkLab
import RequestGate
import Testing

struct RetryDelayTests {
    private static let failure = AttemptFailure(.transient, .neverSent)
    private static let traits = RequestTraits(isIdempotent: true, isReplayable: true)

    private func delay(
        _ policy: RetryPolicy,
        after attempts: Int,
        retryAfter: Duration? = nil,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        var failure = Self.failure
        failure.retryAfter = retryAfter
        let decision = policy.decide(failure, Self.traits, attempts: attempts, using: &generator)
        guard case .retry(let delay, _) = decision else { return nil }
        return delay
    }

    @Test func `the bound doubles up to the maximum`() {
        let bounds = (1...8).map { RetryPolicy.standard.bound(after: $0) }
        let seconds: [Double] = [0.5, 1, 2, 4, 8, 16, 20, 20]
        #expect(bounds == seconds.map { Duration.seconds($0) })
        #expect(RetryPolicy.standard.bound(after: .max) == .seconds(20))
        #expect(RetryPolicy.standard.bound(after: 0) == .seconds(0.5))
        #expect(RetryPolicy.standard.bound(after: .min) == .seconds(0.5))
    }

    @Test func `delays are distributed between zero and the bound`() throws {
        var generator = SeededGenerator(seed: 5)
        let policy = RetryPolicy(maximumAttempts: 10)
        for attempts in 1...9 {
            let delays = (0..<500).compactMap { _ in delay(policy, after: attempts, using: &generator) }
            let bound = policy.bound(after: attempts)
            #expect(delays.count == 500)
            #expect(delays.allSatisfy { $0 >= .zero && $0 <= bound })
            #expect(try #require(delays.min()) < bound / 50)
            #expect(try #require(delays.max()) > bound * 49 / 50)
        }
    }

    @Test func `Retry-After is an unbounded minimum to which jitter is added`() {
        var generator = SeededGenerator(seed: 5)
        let hour = Duration.seconds(3_600)
        let delays = (0..<500).compactMap { _ in
            delay(.standard, after: 1, retryAfter: hour, using: &generator)
        }
        #expect(delays.allSatisfy { $0 >= hour && $0 <= hour + .seconds(0.5) })
        #expect(Set(delays).count > 490)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(-1), .zero])
    func `invalid durations are harmless`(duration: Duration) throws {
        var generator = SeededGenerator(seed: 5)
        let policy = RetryPolicy(maximumAttempts: .max, baseDelay: duration, maximumDelay: duration)
        for attempts in [Int.min, -1, 0, 1, 62, 63, 64, 65, .max - 1] {
            let delay = delay(policy, after: attempts, retryAfter: duration, using: &generator)
            #expect(try #require(delay) >= .zero)
        }
    }
}
