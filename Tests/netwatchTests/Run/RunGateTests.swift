import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct RunGateTests {
    private let start = Instant(nanoseconds: 1_000_000_000)
    private var later: Instant { start.advanced(by: .seconds(5)) }

    @Test func `the command starts when the network is there and the delay is over`() {
        #expect(RunGate.step(holds: true, earliest: nil, deadline: nil, at: start) == .start)
        #expect(RunGate.step(holds: true, earliest: start, deadline: start, at: start) == .start)
        #expect(RunGate.step(holds: true, earliest: later, deadline: start, at: start) == .sleep(until: later))
    }

    @Test func `without a timeout, a network that goes away during the delay is waited for without end`() {
        #expect(RunGate.step(holds: true, earliest: later, deadline: nil, at: start) == .sleep(until: later))
        #expect(RunGate.step(holds: false, earliest: later, deadline: nil, at: later) == .sleep(until: nil))
    }

    @Test func `the end of the delay is not the end of the timeout`() {
        let deadline = later.advanced(by: .seconds(60))
        #expect(RunGate.step(holds: false, earliest: later, deadline: deadline, at: later) == .sleep(until: deadline))
        #expect(RunGate.step(holds: false, earliest: later, deadline: deadline, at: deadline) == .giveUp)
    }
}
