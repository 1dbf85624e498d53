import NetworkLab
import Testing

@testable import RequestGate

struct ReleaseWindowTests {
    @Test func `there is no limit before an outage`() {
        var window = ReleaseWindow()
        let ticket = window.started()
        window.succeeded(ticket)
        window.overloaded(ticket)
        #expect(window.limit == .max)
        #expect(!window.isInEffect && !window.isProbing && !window.isSmall)
        #expect(MemoryLayout<ReleaseWindow>.size <= 32)
    }

    @Test func `after an outage one request is released, then eight, then twice as many per round trip`() {
        var window = ReleaseWindow()
        window.outage()
        #expect(window.isProbing && !window.isSmall)
        for limit in [1, 8, 16, 32] {
            #expect(window.limit == limit)
            #expect(window.isSmall == (8...16).contains(limit))
            roundTrip(&window)
        }
        #expect(window.limit == 64)
        #expect(!window.isProbing)
        window.settle()
        #expect(window.limit == .max)
    }

    @Test func `results of attempts from before the outage are ignored`() {
        var window = ReleaseWindow()
        let early = window.started()
        window.outage()
        window.succeeded(early)
        window.overloaded(early)
        #expect(window.limit == 1)
        #expect(window.isProbing)
    }

    @Test func `the first overload of a round trip reduces the window, and later ones take their own slots`() {
        var window = grown(to: 400)
        let tickets = (0..<400).map { _ in window.started() }
        window.overloaded(tickets[0])
        #expect(window.limit == 387)
        for ticket in tickets[1..<200] { window.overloaded(ticket) }
        #expect(window.limit == 194)
        for ticket in tickets[200...] { window.succeeded(ticket) }
        #expect(window.limit == 194)
        window.overloaded(window.started())
        #expect(window.limit == 187)
    }

    @Test func `it approaches the known limit by halves, then grows in doubling steps`() {
        var window = grown(to: 201)
        window.overloaded(window.started())
        var limits: [Int] = []
        for _ in 0..<14 {
            limits.append(window.limit)
            roundTrip(&window)
        }
        #expect(limits == limits.sorted())
        #expect(limits[0] == 194)
        #expect((197...200).contains(limits[3]))
        #expect((199...202).contains(limits[5]))
        #expect(limits[13] > 220)
    }

    @Test func `a rejected probe keeps the limit at one`() {
        var window = ReleaseWindow()
        window.outage()
        for _ in 0..<100 { window.overloaded(window.started()) }
        #expect(window.limit == 1)
        #expect(window.isProbing)
    }

    @Test func `a server that rejects everything reduces it to a probe, after which it grows again`() {
        var window = grown(to: 64)
        let tickets = (0..<64).map { _ in window.started() }
        for ticket in tickets { window.overloaded(ticket) }
        #expect(window.isProbing)
        roundTrip(&window)
        #expect(window.limit == 2)
    }

    @Test(arguments: 0..<32) func `it is never below one`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var window = ReleaseWindow()
        var tickets: [UInt32] = []
        for _ in 0..<5000 {
            switch UInt8.random(in: 0..<64, using: &generator) {
            case 0: window.outage()
            case 1..<40: tickets.append(window.started())
            case let choice:
                guard let ticket = tickets.randomElement(using: &generator) else { continue }
                if choice < 52 { window.succeeded(ticket) } else { window.overloaded(ticket) }
            }
            #expect(window.limit >= 1)
        }
    }

    private func grown(to limit: Int) -> ReleaseWindow {
        var window = ReleaseWindow()
        window.outage()
        while window.limit < limit { window.succeeded(window.started()) }
        return window
    }

    private func roundTrip(_ window: inout ReleaseWindow) {
        for ticket in (0..<window.limit).map({ _ in window.started() }) { window.succeeded(ticket) }
    }
}
