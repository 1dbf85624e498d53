import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct StateTimelineTests {
    @Test func `the spans follow each other without a gap`() {
        let spans = timeline(.unknown, (1, .wifi), (5, .wifi), (9, .notReachable)).spans(in: at(0)..<at(20))
        #expect(spans.map(\.status) == [.unknown, .wifi, .notReachable])
        #expect(spans.map(\.start) == [at(0), at(1), at(9)] && spans.map(\.end) == [at(1), at(9), at(20)])
    }

    @Test func `an earlier moment counts as the last one`() {
        var states = StateTimeline(.wifi, at: at(100))
        states.note(.notReachable, at: at(110))
        states.advance(to: at(90))
        states.note(.wifi, at: at(50))
        #expect(states.end == at(110) && states.since == at(110) && states.status == .wifi)
        let sum = states.availability(until: at(110))
        #expect(sum.up == .seconds(10) && sum.down == .zero && sum.outages == 1)
    }

    @Test func `the time of a suspension is unknown, and the state continues`() {
        var states = StateTimeline(.wifi, at: at(0))
        states.advance(to: at(40))
        states.noteGap(from: at(60), to: at(90))
        states.advance(to: at(100))
        #expect(states.status == .wifi && states.since == at(90))
        let sum = states.availability(until: at(100))
        #expect(sum.up == .seconds(70) && sum.unknown == .seconds(30) && sum.share == 10_000)
    }

    @Test func `a gap that began before the last moment starts there`() {
        var states = StateTimeline(.wifi, at: at(0))
        states.advance(to: at(50))
        states.noteGap(from: at(20), to: at(60))
        #expect(states.availability(until: at(60)).unknown == .seconds(10))
    }

    @Test(arguments: [8, 9, 64, 5000])
    func `merging old spans keeps the sums`(capacity: Int) {
        var (kept, whole) = (StateTimeline(.unknown, at: at(0), capacity: capacity), StateTimeline(.unknown, at: at(0)))
        let states: [ReachabilityStatus] = [.wifi, .notReachable, .unknown, .notReachable, .cellular]
        for second in 1...3000 {
            let status = states[second * second % states.count]
            kept.note(status, at: at(Int64(second)))
            whole.note(status, at: at(Int64(second)))
        }
        for states in [kept, whole] { #expect(states.availability(until: at(3000)).outages > 500) }
        #expect(kept.availability(until: at(3000)) == whole.availability(until: at(3000)))
        #expect(kept.spans(in: at(0)..<at(3000)).count <= capacity + 1)
        #expect(kept.availability(in: at(2998)..<at(3000)) == whole.availability(in: at(2998)..<at(3000)))
    }
}
