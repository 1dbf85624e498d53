import Synchronization
import Testing

@testable import Reachability

@Suite("Broadcaster under stress", .timeLimit(.minutes(2)))
struct BroadcasterStressTests {
    private static let publications: UInt64 = 3000

    @Test(
        "Whoever subscribes while notices are published hears each once, in order, to the last",
        arguments: Place.allCases
    )
    func lateSubscribers(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let limit = Int(Self.publications)
        let ends = Collector<UInt64>()
        let subscriptions = Lock<[(Witness, Subscription)]>([])
        let delivery = place.makeDelivery().delivery
        let publisher = publish(from: source)
        let threads = (0..<3).map { _ in TestThread() }
        for thread in threads {
            thread.perform {
                for _ in 0..<8 {
                    let witness = Witness()
                    let subscription = monitor.subscribe(deliverOn: delivery, bufferingNewest: limit) { change in
                        witness.hear(change)
                        if change.sequence == Self.publications { ends.append(change.sequence) }
                    }
                    subscriptions.withLock { $0.append((witness, subscription)) }
                }
            }
        }
        for thread in threads { thread.end() }
        publisher.wait()

        try await ends.wait(count: 24)
        let witnesses = subscriptions.withLock { $0.map(\.0) }
        #expect(witnesses.flatMap(\.complaints).isEmpty)
        #expect(witnesses.allSatisfy { $0.last == Self.publications })
        #expect(ends.elements.count == 24)
    }

    @Test("Subscribing and cancelling from many threads disturbs nobody who stays", arguments: Place.allCases)
    func comingAndGoing(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let delivery = place.makeDelivery().delivery
        let ends = Collector<UInt64>()
        let staying = Witness()
        let subscription = monitor.subscribe(deliverOn: delivery, bufferingNewest: Int(Self.publications)) { change in
            staying.hear(change)
            if change.sequence == Self.publications { ends.append(change.sequence) }
        }
        let publisher = publish(from: source)
        let passing = Lock<[Witness]>([])
        let threads = (0..<3).map { _ in TestThread() }
        for thread in threads {
            thread.perform {
                for _ in 0..<100 {
                    let witness = Witness(mayMiss: true)
                    passing.withLock { $0.append(witness) }
                    monitor.subscribe(deliverOn: delivery) { witness.hear($0) }.cancel()
                }
            }
        }
        for thread in threads { thread.end() }
        publisher.wait()

        try await ends.wait(count: 1)
        #expect(staying.complaints.isEmpty)
        #expect(staying.count == Int(Self.publications))
        #expect(passing.withLock { $0.flatMap(\.complaints) }.isEmpty)
        withExtendedLifetime(subscription) {}
    }

    @Test("Several publishers at once: one call at a time, nothing older after something newer, the newest last")
    func severalPublishers() throws {
        let broadcaster = Broadcaster()
        let inside = Atomic<Int>(0)
        let heard = Collector<UInt64>()
        let receiver = Receiver<StateChange>(.eventThread, limit: 4) { change in
            // A second call would add what the first has not taken away yet.
            let calls = inside.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            heard.append(calls == 1 ? change.sequence : .max)
            inside.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        }
        broadcaster.add(receiver) { _ in false }
        let threads = (1...3).map { _ in TestThread() }
        for (publisher, thread) in threads.enumerated() {
            thread.perform {
                for number in 1...500 { broadcaster.publish(.test(.wifi, sequence: UInt64(publisher * 1000 + number))) }
            }
        }
        for thread in threads { thread.end() }

        #expect(heard.elements.last == broadcaster.latest?.sequence)
        for publisher in UInt64(0)..<3 {
            let own = heard.elements.filter { $0 / 1000 == publisher }
            #expect(own == own.sorted())
        }
        #expect(!heard.elements.contains(.max))
    }

    @Test("A slow subscriber delays nobody, and hears the last notice")
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

    /// Publishes from the event thread; the door opens behind the last notice.
    private func publish(from source: FakeSource) -> Gate {
        let done = Gate()
        source.thread?.perform {
            for number in 1...Self.publications {
                source.send(.test(number.isMultiple(of: 2) ? .wifi : .cellular))
            }
            done.open()
        }
        return done
    }
}
