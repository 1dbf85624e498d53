import Glibc
import Synchronization
import Testing

@testable import Reachability

@Suite("Subscription", .timeLimit(.minutes(10)))
struct SubscriptionTests {
    @Test("A closure that cancels its own subscription is not called again", arguments: Place.allCases)
    func cancelInside(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let heard = Collector<UInt64>()
        let others = Collector<UInt64>()
        let (delivery, executor) = place.makeDelivery()
        let box = Box<Subscription>()
        box.value = monitor.subscribe(on: delivery) { change in
            heard.append(change.sequence)
            if change.sequence == 2 { box.value?.cancel() }
        }
        let subscription = monitor.subscribe(on: delivery) { others.append($0.sequence) }
        source.publish(.wifi)
        try await heard.wait(count: 1)
        source.publish(.cellular)
        try await heard.wait(count: 2)
        source.publish(.wifi, .cellular)
        try await others.wait { $0.last == 4 }
        executor?.thread.run {}
        #expect(heard.elements == [1, 2])
        withExtendedLifetime(subscription) {}
    }

    @Test("A subscription cancelled on its executor is not called afterwards", arguments: [Place.custom, .actor])
    func cancelOnExecutor(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let (delivery, executor) = place.makeDelivery()
        let thread = try #require(executor?.thread)
        for _ in 0..<200 {
            let isOver = Atomic<Bool>(false)
            let late = Atomic<Int>(0)
            let subscription = monitor.subscribe(on: delivery) { _ in
                if isOver.load(ordering: .relaxed) { late.add(1, ordering: .relaxed) }
            }
            thread.perform {
                subscription.cancel()
                isOver.store(true, ordering: .relaxed)
            }
            source.publish(.wifi, .cellular)
            thread.run {}
            thread.run {}
            #expect(late.load(ordering: .relaxed) == 0)
        }
    }

    @Test(
        "Cancelled on the executor that a change was sent to, it is not called with that change",
        arguments: [Place.custom, .actor]
    )
    func cancelWithPendingChange(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let (delivery, executor) = place.makeDelivery()
        let thread = try #require(executor?.thread)
        source.publish(.wifi)
        for _ in 0..<50 {
            let heard = Collector<UInt64>()
            let subscription = monitor.subscribe(on: delivery) { heard.append($0.sequence) }
            try await heard.wait(count: 1)
            thread.run {}
            thread.run {
                source.publish(.cellular)
                // The change proceeds as far as possible while the executor is busy.
                usleep(1_000)
                subscription.cancel()
            }
            thread.run {}
            thread.run {}
            #expect(heard.elements.count == 1)
        }
    }

    @Test("An immediate closure can cancel another, which is not called afterwards")
    func cancelAnother() throws {
        let (monitor, source) = try makeFakeMonitor()
        let heard = Collector<UInt64>()
        let box = Box<Subscription>()
        let first = monitor.subscribe(on: .immediate) { _ in box.value?.cancel() }
        box.value = monitor.subscribe(on: .immediate) { heard.append($0.sequence) }
        source.publish(.wifi, .cellular)
        #expect(heard.elements.isEmpty)
        withExtendedLifetime(first) {}
    }

    @Test("Releasing a subscription ends it, and releases its closure", arguments: Place.allCases)
    func release(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let (delivery, executor) = place.makeDelivery()
        let heard = Collector<UInt64>()
        let released = Collector<Bool>()
        do {
            let token = Token { released.append(true) }
            let subscription = monitor.subscribe(on: delivery) { change in
                withExtendedLifetime(token) { heard.append(change.sequence) }
            }
            source.publish(.wifi)
            try await heard.wait(count: 1)
            withExtendedLifetime(subscription) {}
        }
        try await released.wait(count: 1)
        source.publish(.cellular)
        executor?.thread.run {}
        #expect(heard.elements == [1])
    }

    @Test("A closure may release its own subscription's last reference", arguments: Place.allCases)
    func releaseInside(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let released = Collector<Bool>()
        let heard = Collector<ReachabilityChange>()
        let box = Box<Subscription>()
        do {
            let token = Token { released.append(true) }
            box.value = monitor.subscribe(on: place.makeDelivery().delivery) { [weak box] change in
                withExtendedLifetime(token) { box?.value = nil }
                heard.append(change)
            }
        }
        source.publish(.wifi, .cellular)
        // The closure is released with the subscription once it has returned, with everything that it holds.
        try await released.wait(count: 1)
        #expect(box.value == nil)
        source.publish(.wifi)
        #expect(heard.elements.count == 1)
    }

    @Test("A closure may subscribe, and the new subscriber receives the current state", arguments: Place.allCases)
    func subscribeInside(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        let delivery = place.makeDelivery().delivery
        let inner = Collector<ReachabilityChange>()
        let box = Box<Subscription>()
        let outer = monitor.subscribe(on: delivery) { [weak monitor] _ in
            guard box.value == nil else { return }
            box.value = monitor?.subscribe(on: delivery) { inner.append($0) }
        }
        source.publish(.wifi)
        #expect(try await inner.wait(count: 1).map(\.sequence) == [1])
        #expect(inner.elements.first?.event == .state)
        outer.cancel()
        box.value = nil
    }

    @Test("Cancelling repeatedly, from many threads, ends a subscription once")
    func cancelTwice() {
        let ends = Collector<Bool>()
        let subscription = Subscription { ends.append(true) }
        let threads = (0..<4).map { _ in TestThread() }
        for thread in threads { thread.perform { subscription.cancel() } }
        for thread in threads { thread.end() }
        subscription.cancel()
        #expect(ends.elements.count == 1)
    }
}
