import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct AvailabilityTests {
    @Test func `without known time there is no availability`() {
        #expect(timeline(.unknown, (60, .unknown)).availability(until: at(90)).share == nil)
    }

    @Test func `without an outage availability is 100 %, and unknown time does not reduce it`() {
        let sum = timeline(.unknown, (10, .wifi), (20, .unknown), (80, .cellular)).availability(until: at(100))
        #expect(sum.share == 10_000 && sum.outages == 0 && sum.lastEnd == nil)
        #expect(sum.up == .seconds(30) && sum.unknown == .seconds(70) && sum.down == .zero)
    }

    @Test func `outages are counted and measured`() {
        let sum = timeline(.wifi, (10, .notReachable), (13, .wifi), (50, .notReachable), (57, .cellular))
            .availability(until: at(100))
        #expect(sum.outages == 2 && sum.longest == .seconds(7) && sum.down == .seconds(10))
        #expect(sum.share == 9000 && sum.lastEnd == at(57) && !sum.isOut)
    }

    @Test func `a current outage counts with its length so far`() {
        let sum = timeline(.wifi, (10, .notReachable), (11, .wifi), (90, .notReachable)).availability(until: at(110))
        #expect(sum.isOut && sum.newest == .seconds(20) && sum.longest == .seconds(20) && sum.outages == 2)
        #expect(sum.lastEnd == at(11))
    }

    @Test func `unknown time neither ends nor lengthens an outage`() {
        let sum = timeline(.wifi, (10, .notReachable), (12, .unknown), (50, .notReachable), (55, .wifi))
            .availability(until: at(60))
        #expect(sum.outages == 1 && sum.longest == .seconds(7) && sum.unknown == .seconds(38))
        #expect(sum.share == 6818)  // 15 of 22 seconds.
    }

    @Test func `the share is rounded down, so that an outage is never rounded away`() {
        let long = timeline(.wifi, (1_000_000, .notReachable), (1_000_001, .wifi)).availability(until: at(9_000_000))
        #expect(long.share == 9_999)
        var short = StateTimeline(.wifi, at: at(0))
        short.note(.notReachable, at: at(5))
        short.note(.wifi, at: at(5))
        #expect(short.availability(until: at(10)).share == 9_999)
        #expect(short.availability(until: at(10)).outages == 1)
    }

    @Test func `an outage counts before any time has passed`() {
        var now = StateTimeline(.wifi, at: at(0))
        now.note(.notReachable, at: at(60))
        let sum = now.availability(in: at(0)..<at(60))
        #expect(sum.isOut && sum.outages == 1 && sum.newest == .zero && sum.share == 9_999)
    }

    @Test func `an outage across the window's edge counts with its part inside`() {
        let states = timeline(.wifi, (100, .notReachable), (160, .wifi))
        let sum = states.availability(in: at(150)..<at(250))
        #expect(sum.outages == 1 && sum.longest == .seconds(10) && sum.share == 9000)
        let after = states.availability(in: at(170)..<at(250))
        #expect(after.outages == 0 && after.share == 10_000)
    }

    @Test func `time before the start is not counted`() {
        let sum = timeline(.wifi, (30, .notReachable)).availability(in: at(-3540)..<at(60))
        #expect(sum.up == .seconds(30) && sum.down == .seconds(30) && sum.unknown == .zero)
    }
}

/// A moment by its second.
func at(_ second: Int64) -> Instant { .init(nanoseconds: second * 1_000_000_000) }

/// A timeline from second 0 with changes at the given seconds, and much time after the last.
func timeline(
    _ first: ReachabilityStatus,
    _ changes: (Int64, ReachabilityStatus)...,
    capacity: Int = 4096
)
    -> StateTimeline
{
    var timeline = StateTimeline(first, at: at(0), capacity: capacity)
    for (second, status) in changes { timeline.note(status, at: at(second)) }
    timeline.advance(to: at(1_000_000_000))
    return timeline
}
