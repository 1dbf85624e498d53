import Locking
import Synchronization
import Testing

@testable import Reachability

@Suite("Broadcaster under stress", .serialized, .timeLimit(.minutes(10)))
struct BroadcasterStressTests {
    private static let publications: UInt64 = 1500

    @Test(
        "A subscriber added while changes are published receives each once, in order, to the last",
        arguments: Place.allCases
    )
    func lateSubscribers(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let limit = Int(Self.publications)
        let ends = Collector<UInt64>()
        let subscriptions = Lock<[(Witness, Subscription)]>([])
        let delivery = place.makeDelivery().delivery
        publish(from: source) { $0 == Self.publications }
        let threads = (0..<3).map { _ in TestThread() }
        for thread in threads {
            thread.perform {
                for _ in 0..<8 {
                    let witness = Witness()
                    let subscription = monitor.subscribe(on: delivery, bufferingNewest: limit) { change in
                        witness.hear(change)
                        if change.sequence == Self.publications { ends.append(change.sequence) }
                    }
                    subscriptions.withLock { $0.append((witness, subscription)) }
                }
            }
        }
        for thread in threads { await thread.finish() }

        try await ends.wait(count: 24)
        let witnesses = subscriptions.withLock { $0.map(\.0) }
        #expect(witnesses.flatMap(\.complaints).isEmpty)
        #expect(witnesses.allSatisfy { $0.last == Self.publications })
        #expect(ends.elements.count == 24)
    }

    @Test(
        "Coming and going on many threads: nobody hears anything twice, out of order or with a gap",
        arguments: Place.allCases
    )
    func comingAndGoing(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let delivery = place.makeDelivery().delivery
        let isOver = Box<Bool>()
        let witnesses = Lock<[Witness]>([])
        let staying = Witness()
        let subscription = monitor.subscribe(on: delivery, bufferingNewest: .max) { staying.hear($0) }
        let visitors = (0..<3).map { _ in TestThread() }
        for thread in visitors {
            thread.perform {
                var recent: [Subscription] = []
                for _ in 0..<300 {
                    let witness = Witness()
                    witnesses.withLock { $0.append(witness) }
                    recent.append(monitor.subscribe(on: delivery, bufferingNewest: .max) { witness.hear($0) })
                    if recent.count > 4 { recent.removeFirst().cancel() }
                }
            }
        }
        let last = Collector<UInt64>()
        publish(from: source) { number in
            guard isOver.value == true else { return false }
            last.append(number)
            return true
        }
        for thread in visitors { await thread.finish() }
        isOver.value = true

        let count = try #require(try await last.wait(count: 1).first)
        try await staying.wait(for: count)
        #expect(staying.complaints.isEmpty)
        #expect(staying.count == Int(count))
        #expect(witnesses.withLock { $0.flatMap(\.complaints) }.isEmpty)
        #expect(monitor.subscriberCount == 1)
        withExtendedLifetime(subscription) {}
    }

    @Test("With several publishers, calls never overlap, changes never go back, and the newest comes last")
    func severalPublishers() async throws {
        let broadcaster = Broadcaster()
        let inside = Atomic<Int>(0)
        let heard = Collector<UInt64>()
        let subscriber = Subscriber<ReachabilityChange>(.eventThread, limit: 4) { change in
            // A second call would add before the first has subtracted.
            let calls = inside.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            heard.append(calls == 1 ? change.sequence : .max)
            inside.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        }
        broadcaster.add(subscriber) { _ in false }
        let threads = (1...3).map { _ in TestThread() }
        for (publisher, thread) in threads.enumerated() {
            thread.perform {
                for number in 1...500 { broadcaster.publish(.test(.wifi, sequence: UInt64(publisher * 1000 + number))) }
            }
        }
        for thread in threads { await thread.finish() }

        #expect(heard.elements.last == broadcaster.latest?.sequence)
        for publisher in UInt64(0)..<3 {
            let own = heard.elements.filter { $0 / 1000 == publisher }
            #expect(own == own.sorted())
        }
        #expect(!heard.elements.contains(.max))
    }

    @Test("A slow subscriber delays no other, and receives the last change")
    func slowSubscriber() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let door = Gate()
        let slow = Collector<UInt64>()
        let quick = Collector<UInt64>()
        let subscriptions = [
            monitor.subscribe { change in
                if slow.elements.isEmpty { door.wait() }
                slow.append(change.sequence)
            },
            monitor.subscribe(bufferingNewest: 1000) { quick.append($0.sequence) },
        ]
        for _ in 0..<1000 { source.publish(.wifi) }
        try await quick.wait(count: 1000)
        #expect(slow.elements.isEmpty)

        door.open()
        let heard = try await slow.wait { $0.last == 1000 }
        #expect(heard == heard.sorted())
        #expect(Array(heard.suffix(16)) == Array(985...1000))
        #expect(heard.count <= 17)
        withExtendedLifetime(subscriptions) {}
    }

    /// Publishes from the event thread, which runs other jobs after each change.
    private func publish(
        from source: FakeSource,
        number: UInt64 = 1,
        until isOver: @escaping @Sendable (_ number: UInt64) -> Bool
    ) {
        source.thread?.perform {
            source.send(.test(number.isMultiple(of: 2) ? .wifi : .cellular))
            if !isOver(number) { publish(from: source, number: number + 1, until: isOver) }
        }
    }
}
