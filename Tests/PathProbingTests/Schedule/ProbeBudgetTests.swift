import NetworkLab
import PathProbing
import Testing
import ValidationCore

struct ProbeBudgetTests {
    @Test func `the first half may be spent at once`() {
        var budget = ProbeBudget(limit: 10)
        for count in 0..<5 {
            #expect(budget.spent(at: .at(0)) == count)
            #expect(budget.earliestTime(for: 1, at: .at(0)) == .at(0))
            budget.spend(at: .at(0))
        }
        #expect(budget.earliestTime(for: 1, at: .at(0)) == .at(86_400 / 5))
    }

    @Test func `the second half is spread over the day`() {
        var budget = ProbeBudget(limit: 10)
        for _ in 0..<5 { budget.spend(at: .at(0)) }
        budget.spend(at: .at(17_280))
        #expect(budget.earliestTime(for: 1, at: .at(17_281)) == .at(2 * 17_280))
        #expect(budget.earliestTime(for: 2, at: .at(17_281)) == .at(3 * 17_280))
        // Time that has passed already is not waited for again.
        #expect(budget.earliestTime(for: 1, at: .at(80_000)) == .at(80_000))
    }

    @Test func `what was spent counts for exactly 24 hours`() {
        var budget = ProbeBudget(limit: 1)
        budget.spend(at: .at(100))
        #expect(budget.spent(at: .at(86_499)) == 1)
        #expect(budget.spent(at: .at(86_500)) == 0)
        #expect(budget.earliestTime(for: 1, at: .at(101)) == .at(86_500))
        #expect(budget.earliestTime(for: 1, at: .at(86_500)) == .at(86_500))
    }

    @Test func `what a budget can never pay for is never sent`() {
        #expect(ProbeBudget(limit: 0).earliestTime(for: 1, at: .at(0)) == nil)
        #expect(ProbeBudget(limit: 2).earliestTime(for: 3, at: .at(0)) == nil)
        #expect(ProbeBudget(limit: -1).earliestTime(for: 1, at: .at(0)) == nil)
    }

    @Test func `no 24 hours contain more than the limit, however probes are requested`() {
        var generator = SeededGenerator(seed: 24)
        for _ in 0..<300 {
            let limit = Int.random(in: 1...20, using: &generator)
            var budget = ProbeBudget(limit: limit)
            var now = ValidationInstant.at(0)
            var sent: [ValidationInstant] = []
            for _ in 0..<200 {
                now = now.advanced(by: .seconds(Int.random(in: 0...20_000, using: &generator)))
                let count = Int.random(in: 1...limit, using: &generator)
                guard let time = budget.earliestTime(for: count, at: now), time <= now else { continue }
                for _ in 0..<count {
                    budget.spend(at: now)
                    sent.append(now)
                }
                let recent = sent.count { $0.advanced(by: .seconds(86_400)) > now }
                #expect(recent <= limit)
            }
            #expect(sent.count > limit)
        }
    }
}

struct ProbePacingTests {
    private static let configuration = ValidationConfiguration(
        endpoints: [.plain],
        minimumInterval: .seconds(1),
        maximumInterval: .seconds(60)
    )

    @Test func `pauses double up to the longest, and are short after a reset`() {
        var pacing = ProbePacing(Self.configuration)
        var now = ValidationInstant.at(0)
        var pauses: [Duration] = []
        for round in 0..<9 {
            if round == 8 { pacing.reset() }
            pacing.roundStarted(at: now)
            pacing.roundEnded(at: now, needsConfirmation: false)
            let next = pacing.earliestTime(for: 1, at: now) ?? now
            pauses.append(now.duration(to: next))
            now = next
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 1].map(Duration.seconds))
    }

    @Test func `a confirmation follows after the shortest pause, and does not lengthen the next`() {
        var pacing = ProbePacing(Self.configuration)
        pacing.roundStarted(at: .at(0))
        pacing.roundEnded(at: .at(5), needsConfirmation: true)
        #expect(pacing.earliestTime(for: 1, at: .at(5)) == .at(6))
        pacing.roundStarted(at: .at(6))
        pacing.roundEnded(at: .at(11), needsConfirmation: false)
        #expect(pacing.earliestTime(for: 1, at: .at(11)) == .at(12))
    }

    @Test func `rounds keep their distance even after a reset`() {
        var pacing = ProbePacing(Self.configuration)
        pacing.roundStarted(at: .at(10))
        pacing.reset()
        #expect(pacing.earliestTime(for: 1, at: .at(10)) == .at(11))
        pacing.endPause()
        #expect(pacing.earliestTime(for: 1, at: .at(10)) == .at(11))
    }

    @Test func `pauses are short again after a long time without a round`() {
        var pacing = ProbePacing(Self.configuration)
        for second in [0, 10, 20] {
            pacing.roundStarted(at: .at(second))
            pacing.roundEnded(at: .at(second), needsConfirmation: false)
        }
        #expect(pacing.earliestTime(for: 1, at: .at(20)) == .at(24))
        pacing.roundStarted(at: .at(81))
        pacing.roundEnded(at: .at(81), needsConfirmation: false)
        #expect(pacing.earliestTime(for: 1, at: .at(81)) == .at(82))
    }
}
