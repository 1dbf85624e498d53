import NetworkLab
import OutboxCore
import Testing

/// The pauses of a lane.
@Suite struct LaneStateTests {
    private let start = BoxTime(nanoseconds: 0)
    private let down = Verdict.destinationFailed(retryAfter: nil, mayBeProcessed: false)

    private func lane(_ order: LaneOrder) -> LaneState {
        var rules = LaneRules()
        rules.order = order
        return .init(rules)
    }

    @Test func `an ordered lane sends one item, an unordered one as many as its width`() {
        var ordered = lane(.ordered(isStrict: false))
        #expect(ordered.allowance(at: start) == 1)
        _ = ordered.started()
        #expect(ordered.allowance(at: start) == 0)
        var wide = lane(.unordered(width: 8))
        _ = wide.started()
        #expect(wide.allowance(at: start) == 7)
    }

    @Test func `a failure of the destination pauses the lane, and one item probes it`() throws {
        var lane = lane(.unordered(width: 8))
        var generator = SeededGenerator(seed: 1)
        let isProbe = lane.started()
        #expect(!isProbe)
        lane.ended(down, isProbe: isProbe, at: start, using: &generator)
        #expect(lane.allowance(at: start.advanced(by: .seconds(29))) == 0)
        let end = try #require(lane.wakeTime)
        #expect(lane.allowance(at: end) == 1)
        let probes = lane.started()
        #expect(probes)
        #expect(lane.allowance(at: end) == 0)
        lane.ended(.delivered, isProbe: probes, at: end, using: &generator)
        #expect(lane.pause == nil && lane.allowance(at: end) == 8)
    }

    @Test func `pauses last from 30 seconds to one hour`() throws {
        for seed in 1...50 {
            var lane = lane(.ordered(isStrict: true))
            var generator = SeededGenerator(seed: UInt64(seed))
            var now = start
            var pauses: [Duration] = []
            for _ in 0..<12 {
                let isProbe = lane.started()
                lane.ended(down, isProbe: isProbe, at: now, using: &generator)
                let end = try #require(lane.wakeTime)
                pauses.append(now.duration(to: end))
                now = end
            }
            #expect((.seconds(30)...Duration.seconds(45)).contains(pauses[0]))
            #expect(pauses.allSatisfy { (.seconds(30)...Duration.seconds(3_600)).contains($0) })
            #expect(pauses[11] >= .seconds(2_400))
        }
    }

    @Test func `failures of items that were under way together count once`() {
        var lane = lane(.unordered(width: 8))
        var generator = SeededGenerator(seed: 1)
        let probes = (0..<8).map { _ in lane.started() }
        for isProbe in probes { lane.ended(down, isProbe: isProbe, at: start, using: &generator) }
        #expect(lane.pause?.failures == 1)
    }

    @Test func `an item that was under way when another failed does not end the pause`() {
        var lane = lane(.unordered(width: 2))
        var generator = SeededGenerator(seed: 1)
        let (one, two) = (lane.started(), lane.started())
        lane.ended(down, isProbe: one, at: start, using: &generator)
        lane.ended(.delivered, isProbe: two, at: start, using: &generator)
        #expect(lane.pause != nil)
    }

    @Test func `a path that comes back ends a pause, but never before Retry-After`() {
        var generator = SeededGenerator(seed: 1)
        var lane = lane(.unordered(width: 2))
        let (one, two) = (lane.started(), lane.started())
        lane.ended(down, isProbe: one, at: start, using: &generator)
        let soon = start.advanced(by: .seconds(1))
        var other = lane
        lane.pathReturned(at: soon)
        other.ended(
            .destinationFailed(retryAfter: .seconds(90), mayBeProcessed: false),
            isProbe: two,
            at: start,
            using: &generator
        )
        other.pathReturned(at: soon)
        lane.ended(.interrupted(mayBeProcessed: false), isProbe: two, at: soon, using: &generator)
        #expect(lane.allowance(at: soon) == 1)
        #expect(other.allowance(at: start.advanced(by: .seconds(89))) == 0)
        #expect(other.allowance(at: start.advanced(by: .seconds(90))) == 1)
    }

    @Test func `a path that comes back while items are under way ends the pause that their failure begins`() {
        var generator = SeededGenerator(seed: 1)
        var lane = lane(.unordered(width: 2))
        let before = lane.started()
        lane.ended(down, isProbe: before, at: start, using: &generator)
        let probed = start.advanced(by: .seconds(90))
        let probe = lane.started()
        lane.pathReturned(at: probed)
        let failed = probed.advanced(by: .seconds(5))
        lane.ended(down, isProbe: probe, at: failed, using: &generator)
        #expect(lane.allowance(at: failed) == 1)
        // The next probe has used that path.
        lane.ended(down, isProbe: lane.started(), at: failed, using: &generator)
        #expect(lane.allowance(at: failed.advanced(by: .seconds(60))) == 0)
    }

    @Test func `a path that comes back while items are under way does not shorten the server's delay`() {
        var generator = SeededGenerator(seed: 1)
        var lane = lane(.unordered(width: 2))
        let one = lane.started()
        lane.pathReturned(at: start)
        let verdict = Verdict.destinationFailed(retryAfter: .seconds(90), mayBeProcessed: false)
        lane.ended(verdict, isProbe: one, at: start, using: &generator)
        #expect(lane.allowance(at: start.advanced(by: .seconds(89))) == 0)
        #expect(lane.allowance(at: start.advanced(by: .seconds(90))) == 1)
    }

    @Test func `a lane that the user paused sends nothing until it is resumed`() {
        var lane = lane(.unordered(width: 2))
        lane.isPaused = true
        #expect(lane.allowance(at: start) == 0)
        lane.resume()
        #expect(lane.allowance(at: start) == 2)
    }
}
