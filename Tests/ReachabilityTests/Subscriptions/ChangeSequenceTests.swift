import Testing

@testable import Reachability

@Suite("ChangeSequence", .timeLimit(.minutes(10)))
struct ChangeSequenceTests {
    @Test("Begins with the current state, followed by each change")
    func changes() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.cellular, .wifi)
        var iterator = monitor.changes.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.sequence == 2)
        #expect(first?.event == .state)
        #expect(first?.previous == nil)

        source.publish(.notReachable)
        let second = await iterator.next()
        #expect(second?.sequence == 3)
        #expect(second?.event == .change)
    }

    @Test("Begins with the first state if there is none yet")
    func early() async throws {
        let (monitor, source) = try makeFakeMonitor()
        async let first = monitor.changes.first { _ in true }
        source.publish(.notReachable)
        #expect(await first?.status == .notReachable)
    }

    @Test("Keeps the newest state for a slow task, which begins with a baseline")
    func slowTask() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.wifi)
        var iterator = monitor.changes.makeAsyncIterator()
        source.publish(.cellular, .notReachable, .wifi)
        let first = await iterator.next()
        #expect(first?.sequence == 4)
        #expect(first?.event == .state)

        var patient = monitor.changes(bufferingNewest: 3).makeAsyncIterator()
        source.publish(.cellular, .wifi)
        let sequences = [await patient.next(), await patient.next(), await patient.next()].map { $0?.sequence }
        #expect(sequences == [4, 5, 6])
    }

    @Test("Each iterator is a separate subscription, which ends with it")
    func iterators() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.wifi)
        let sequence = monitor.changes
        do {
            var one = sequence.makeAsyncIterator()
            var other = sequence.makeAsyncIterator()
            #expect(monitor.subscriberCount == 2)
            #expect(await one.next()?.sequence == 1)
            #expect(await other.next()?.sequence == 1)
        }
        #expect(monitor.subscriberCount == 0)
    }

    @Test("Ends when its task is cancelled")
    func cancellation() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let heard = Collector<UInt64>()
        let task = Task {
            for await change in monitor.changes { heard.append(change.sequence) }
        }
        source.publish(.wifi)
        try await heard.wait(count: 1)
        task.cancel()
        await task.value
        #expect(monitor.subscriberCount == 0)
    }

    @Test("Keeps the monitor alive while it is iterated, and no longer")
    func lifetime() async throws {
        weak var released: ReachabilityMonitor?
        do {
            let (monitor, source) = try makeFakeMonitor()
            released = monitor
            source.publish(.wifi)
            var iterator = monitor.changes.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        }
        #expect(released == nil)
    }
}
