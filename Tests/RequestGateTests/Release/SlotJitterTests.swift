import NetworkLab
import Testing

@testable import RequestGate

struct SlotJitterTests {
    @Test func `a slot is delayed by less than a quarter of the round trip, and only while the window is small`() {
        var generator = SeededGenerator(seed: 1)
        var window = ReleaseWindow()
        let jitter = SlotJitter(roundTrip: .milliseconds(40))
        #expect(jitter.delay(in: window, using: &generator) == .zero)
        window.outage()
        #expect(jitter.delay(in: window, using: &generator) == .zero)
        window.succeeded(window.started())
        let delays = (0..<1000).map { _ in jitter.delay(in: window, using: &generator) }
        #expect(delays.allSatisfy { $0 >= .zero && $0 < .milliseconds(10) })
        #expect(Set(delays).count > 990)
        #expect(delays.contains { $0 > .milliseconds(9) })
        #expect(SlotJitter().delay(in: window, using: &generator) == .zero)
        while window.limit <= 16 {
            #expect(window.isSmall)
            window.succeeded(window.started())
        }
        #expect((0..<100).allSatisfy { _ in jitter.delay(in: window, using: &generator) == .zero })
    }

    @Test(arguments: [Duration.seconds(60), .seconds(Int64.max)])
    func `a slow probe delays other requests by at most a quarter of a second`(roundTrip: Duration) {
        var generator = SeededGenerator(seed: 2)
        var window = ReleaseWindow()
        window.outage()
        window.succeeded(window.started())
        let jitter = SlotJitter(roundTrip: roundTrip)
        let delays = (0..<1000).map { _ in jitter.delay(in: window, using: &generator) }
        #expect(delays.allSatisfy { $0 < .milliseconds(250) })
        #expect(SlotJitter(roundTrip: .seconds(-1)).delay(in: window, using: &generator) == .zero)
    }
}
