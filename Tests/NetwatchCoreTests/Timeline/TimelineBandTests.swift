import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct TimelineBandTests {
    @Test func `a cell holds what weighs most in it`() {
        let states = timeline(.unknown, (3, .wifi), (25, .notReachable), (26, .wifi), (40, .cellular), (44, .wifi))
        #expect(picture(states, until: 59) == "wwxwcw")
        #expect(picture(timeline(.unknown, (25, .wifi)), until: 35) == "??ww")
    }

    @Test func `where there is no record, there is nothing`() {
        var states = StateTimeline(.wifi, at: at(25))
        states.advance(to: at(45))
        #expect(picture(states, until: 45) == "..www")
        #expect(picture(states, until: 45, count: 2) == "ww")
        #expect(picture(states, until: 45, count: 0).isEmpty)
    }

    @Test func `an edge between cells belongs to the later`() {
        let states = timeline(.wifi, (20, .notReachable), (30, .wifi))
        #expect(picture(states, until: 40) == "wwxww")
    }

    @Test func `an outage without length is seen`() {
        let states = timeline(.wifi, (20, .notReachable), (20, .wifi))
        #expect(picture(states, until: 40) == "wwxww")
    }

    @Test func `while the state stays the same, the picture moves once in a cell's length`() {
        let states = timeline(.wifi, (15, .notReachable), (18, .wifi))
        #expect(picture(states, until: 60, count: 7) == picture(states, until: 69, count: 7))
        #expect(picture(states, until: 69, count: 7) == "wxwwwww")
        #expect(picture(states, until: 70, count: 7) == "xwwwwww")
    }

    @Test func `the clock may have begun anywhere`() {
        var states = StateTimeline(.cellular, at: at(-25))
        states.note(.wifi, at: at(-5))
        states.advance(to: at(5))
        #expect(picture(states, until: 5, count: 5) == ".cccw")
    }

    /// Cells of 10 seconds: wifi, cellular, x for not reachable, ? for unknown, a point for none.
    private func picture(_ timeline: StateTimeline, until second: Int64, count: Int? = nil) -> String {
        let count = count ?? Int(second / 10) + 1
        let band = TimelineBand(timeline, until: at(second), cellLength: .seconds(10), count: count)
        return band.cells.map(letter).joined()
    }

    private func letter(_ status: ReachabilityStatus?) -> String {
        switch status {
        case .wifi?: "w"
        case .cellular?: "c"
        case .notReachable?: "x"
        case .unknown?: "?"
        case nil: "."
        }
    }
}
