import ReachabilityCore
import Testing

@testable import Reachability

@Suite("Delivery", .timeLimit(.minutes(10)))
struct DeliveryTests {
    @Test("A subscriber receives the current state and then every change, in order", arguments: Place.allCases)
    func order(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.wifi)
        let collector = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: place.makeDelivery().delivery) { collector.append($0) }
        try await collector.wait(count: 1)
        source.publish(.cellular, .notReachable, .wifi)

        let changes = try await collector.wait(count: 4)
        #expect(changes.map(\.sequence) == [1, 2, 3, 4])
        #expect(changes.map(\.status) == [.wifi, .cellular, .notReachable, .wifi])
        #expect(changes.map(\.event) == [.state, .change, .change, .change])
        withExtendedLifetime(subscription) {}
    }

    @Test("A subscriber receives nothing before the first state", arguments: Place.allCases)
    func early(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor(started: false)
        let collector = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: place.makeDelivery().delivery) { collector.append($0) }
        #expect(monitor.status == .unknown)
        #expect(monitor.latestChange == nil)
        #expect(monitor.path.reasons == [.reading])

        try monitor.start()
        source.publish(.notReachable)
        let first = try await collector.wait(count: 1)
        #expect(first.map(\.status) == [.notReachable])
        #expect(first.first?.event == .state)
        withExtendedLifetime(subscription) {}
    }

    @Test(
        "Closures are called where they were asked to be",
        arguments: [Place.custom, .actor]
    )
    func executor(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.wifi)
        let (delivery, executor) = place.makeDelivery()
        let collector = Collector<Bool>()
        let subscription = monitor.subscribe(on: delivery) { _ in
            collector.append(executor?.thread.isCurrent ?? false)
        }
        try await collector.wait(count: 1)
        source.publish(.cellular, .wifi)
        #expect(try await collector.wait(count: 3) == [true, true, true])
        withExtendedLifetime(subscription) {}
    }

    @Test("Immediate closures are called on the event thread, also for the current state")
    func immediate() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.wifi)
        let collector = Collector<Bool>()
        let subscription = monitor.subscribe(on: .immediate) { _ in
            collector.append(source.thread?.isCurrent ?? false)
        }
        try await collector.wait(count: 1)
        source.publish(.cellular)
        // The closure has been called when the publication returns.
        #expect(collector.elements == [true, true])
        withExtendedLifetime(subscription) {}
    }

    @Test("The default delivery calls closures serially on a thread of the library")
    func serial() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let collector = Collector<String>()
        let subscription = monitor.subscribe { _ in collector.append(ThreadFacts.currentName) }
        source.publish(.wifi, .cellular, .wifi)
        #expect(try await collector.wait(count: 3) == Array(repeating: "netwatch-helper", count: 3))
        withExtendedLifetime(subscription) {}
    }

    @Test("Closures of the main actor run on the main actor")
    func mainActor() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let collector = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: .actor(MainActor.shared)) { change in
            MainActor.assumeIsolated { collector.append(change) }
        }
        source.publish(.wifi, .cellular)
        #expect(try await collector.wait { $0.last?.status == .cellular }.last?.status == .cellular)
        withExtendedLifetime(subscription) {}
    }
}
