import ResourceLoaderCore
import Testing

/// The states of an activity indicator, in virtual time.
struct ActivityStateTests {
    @Test func `activity is shown after the first delay, and hidden after the second`() {
        var state = ActivityState(startDelay: 100, endDelay: 20)
        #expect(state.phase == .notActive && state.deadline == nil)
        state.begin(at: 0)
        #expect(state.phase == .delayingStart && state.deadline == 100 && !state.isVisible)
        state.advance(to: 99)
        #expect(state.phase == .delayingStart)
        state.advance(to: 100)
        #expect(state.phase == .active && state.deadline == nil && state.isVisible)
        state.end(at: 200)
        #expect(state.phase == .delayingEnd && state.deadline == 220 && state.isVisible)
        state.advance(to: 220)
        #expect(state.phase == .notActive && state.deadline == nil && !state.isVisible)
    }

    @Test func `a short activity is not shown, and a short pause not either`() {
        var state = ActivityState(startDelay: 100, endDelay: 20)
        state.begin(at: 0)
        state.end(at: 99)
        #expect(state.phase == .notActive && state.deadline == nil)
        state.begin(at: 200)
        state.advance(to: 300)
        state.end(at: 400)
        state.begin(at: 419)
        #expect(state.phase == .active && state.deadline == nil)
        state.advance(to: 420)
        #expect(state.phase == .active)
    }

    @Test func `several activities count as one`() {
        var state = ActivityState(startDelay: 100, endDelay: 20)
        for time in [0, 50, 60] { state.begin(at: Int64(time)) }
        state.end(at: 70)
        #expect(state.phase == .delayingStart && state.deadline == 100 && state.count == 2)
        state.end(at: 150)
        #expect(state.phase == .active)
        state.end(at: 160)
        #expect(state.phase == .delayingEnd && state.deadline == 180)
        // One end too many changes nothing.
        state.end(at: 170)
        #expect(state.count == 0 && state.deadline == 180)
    }

    @Test func `a delay that has passed ends before the next activity, also without its timer`() {
        var state = ActivityState(startDelay: 100, endDelay: 20)
        state.begin(at: 0)
        state.end(at: 100)
        #expect(state.phase == .delayingEnd)
        state.begin(at: 120)
        #expect(state.phase == .delayingStart && state.deadline == 220)
    }

    @Test func `without delays, activity is shown immediately`() {
        var state = ActivityState(startDelay: 0, endDelay: -1)
        state.begin(at: 5)
        #expect(state.phase == .active)
        state.end(at: 5)
        #expect(state.phase == .notActive)
    }
}
