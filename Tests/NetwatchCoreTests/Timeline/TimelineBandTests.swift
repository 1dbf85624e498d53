import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct TimelineBandTests {
    @Test func `a cell shows its worst status`() {
        let states = timeline(.unknown, (3, .wifi), (25, .notReachable), (26, .wifi), (40, .cellular), (44, .wifi))
        #expect(picture(states, until: 59) == "wwxwcw")
        #expect(picture(timeline(.unknown, (25, .wifi)), until: 35) == "??ww")
    }

    @Test func `time without a record is empty`() {
        var states = StateTimeline(.wifi, at: at(25))
        states.advance(to: at(45))
        #expect(picture(states, until: 45) == "..www")
        #expect(picture(states, until: 45, count: 2) == "ww")
        #expect(picture(states, until: 45, count: 0).isEmpty)
    }

    @Test func `a boundary between cells belongs to the later one`() {
        let states = timeline(.wifi, (20, .notReachable), (30, .wifi))
        #expect(picture(states, until: 40) == "wwxww")
    }

    @Test func `an outage without length is visible`() {
        let states = timeline(.wifi, (20, .notReachable), (20, .wifi))
        #expect(picture(states, until: 40) == "wwxww")
    }

    @Test func `with a constant status the band moves once per cell`() {
        let states = timeline(.wifi, (15, .notReachable), (18, .wifi))
        #expect(picture(states, until: 60, count: 7) == picture(states, until: 69, count: 7))
        #expect(picture(states, until: 69, count: 7) == "wxwwwww")
        #expect(picture(states, until: 70, count: 7) == "xwwwwww")
    }

    @Test func `the clock may start anywhere`() {
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
