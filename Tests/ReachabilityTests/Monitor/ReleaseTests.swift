import Testing

@testable import Reachability

@Suite("Release of monitors", .timeLimit(.minutes(10)))
struct ReleaseTests {
    @Test("A thousand monitors with subscribers of each kind are released, with all they hold")
    func monitors() async throws {
        let released = Collector<Bool>()
        for round in 0..<1000 {
            weak var weakMonitor: ReachabilityMonitor?
            weak var weakSource: FakeSource?
            do {
                let (monitor, source) = try makeFakeMonitor()
                (weakMonitor, weakSource) = (monitor, source)
                let token = Token { released.append(true) }
                let subscription = monitor.subscribe(on: round.isMultiple(of: 2) ? .serial : .immediate) { _ in
                    withExtendedLifetime(token) {}
                }
                source.publish(.wifi, .cellular)
                var iterator = monitor.changes.makeAsyncIterator()
                #expect(await iterator.next()?.status == .cellular)
                withExtendedLifetime(subscription) {}
            }
            #expect(weakMonitor == nil)
            #expect(weakSource == nil)
        }
        try await released.wait(count: 1000)
    }

    @Test("A closure that captures its own subscription is released by cancel()")
    func cycle() async throws {
        let released = Collector<Bool>()
        let (monitor, source) = try makeFakeMonitor()
        do {
            let token = Token { released.append(true) }
            let box = Box<Subscription>()
            box.value = monitor.subscribe(on: .immediate) { _ in
                withExtendedLifetime(token) { box.value?.cancel() }
            }
        }
        #expect(released.elements.isEmpty)
        source.publish(.wifi)
        #expect(released.elements == [true])
    }
}
