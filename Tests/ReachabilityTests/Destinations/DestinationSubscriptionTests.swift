import NetworkLab
import Testing

@testable import Reachability

@Suite("Destinations", .timeLimit(.minutes(10)))
struct DestinationSubscriptionTests {
    private let address = IPAddress(ipv4: 0xC000_0207)

    @Test("A query for an address returns the source's result")
    func path() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.setPath(.test(address, .wifi))
        #expect(try await monitor.path(to: address).isReachable)
        let path = try #require(try await monitor.path(to: "192.0.2.7").best)
        #expect(path.destination == address)
        #expect(path.gateway == IPAddress(ipv4: 0xC000_0201))
        #expect(path.source == IPAddress(ipv4: 0xC000_0202))
        #expect(path.errno == nil)
    }

    /// Swift's tasks have a thread for each processor.
    @Test("Pending queries block no thread of the cooperative pool")
    func manyQuestions() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.setPath(.test(address, .wifi))
        source.holdResults()
        let tasks = (0..<256).map { _ in Task { try await monitor.path(to: address) } }
        let deadline = ContinuousClock.now + .seconds(120)
        while source.heldCount < 256, ContinuousClock.now < deadline { await Polling.pause() }
        #expect(source.heldCount == 256)
        source.releaseResults()
        for task in tasks { #expect(try await task.value.isReachable) }
    }

    @Test("A refusal has its errno, and neither gateway nor source")
    func refusal() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.setPath(.test(address, .notReachable))
        let path = try #require(try await monitor.path(to: "192.0.2.7").best)
        #expect(!path.isReachable)
        #expect(path.errno == LookupErrno.networkUnreachable)
        #expect(path.gateway == nil)
        #expect(path.source == nil)
    }

    @Test("A query of a stopped monitor fails")
    func stopped() async throws {
        let (monitor, _) = try makeFakeMonitor(started: false)
        await #expect(throws: ReachabilityError.notRunning) { try await monitor.path(to: "192.0.2.7") }
    }

    @Test("A subscriber receives the current path, and then each change", arguments: Place.allCases)
    func subscription(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.setPath(.test(address, .wifi))
        let heard = Collector<DestinationPath>()
        let (delivery, executor) = place.makeDelivery()
        let subscription = monitor.subscribe(to: address, on: delivery) { heard.append($0) }
        try await heard.wait(count: 1)
        source.setPath(.test(address, .notReachable))
        try await heard.wait(count: 2)
        subscription.cancel()
        #expect(source.watchCount == 0)
        source.setPath(.test(address, .cellular))
        executor?.thread.run {}
        #expect(heard.elements.map(\.status) == [.wifi, .notReachable])
    }

    @Test("A sequence keeps the newest path for a slow task, and ends with its iterator")
    func sequence() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.setPath(.test(address, .wifi))
        do {
            var iterator = monitor.paths(to: address).makeAsyncIterator()
            #expect(await iterator.next()?.status == .wifi)
            source.setPath(.test(address, .notReachable))
            source.setPath(.test(address, .cellular))
            #expect(await iterator.next()?.status == .cellular)
            #expect(source.watchCount == 1)
        }
        #expect(source.watchCount == 0)
    }

    @Test("A subscription to a destination keeps the monitor alive, and no longer than it lasts")
    func lifetime() throws {
        weak var released: ReachabilityMonitor?
        do {
            let subscription: Subscription
            do {
                let (monitor, source) = try makeFakeMonitor()
                source.setPath(.test(address, .wifi))
                released = monitor
                subscription = monitor.subscribe(to: address) { _ in }
            }
            #expect(released != nil)
            withExtendedLifetime(subscription) {}
        }
        #expect(released == nil)
    }
}

extension DestinationPath {
    /// A path through 192.0.2.1, or a refusal.
    static func test(_ destination: IPAddress, _ status: ReachabilityStatus) -> Self {
        let nextHop = SelectedNextHop(interface: 4, gateway: .init(ipv4: 0xC000_0201), source: .init(ipv4: 0xC000_0202))
        let refusal = LookupOutcome.refused(errno: LookupErrno.networkUnreachable, .noRoute)
        let outcome = status.isReachable ? .selected(.init(table: .main, nextHop: nextHop)) : refusal
        return .init(destination: destination, status: status, outcome: outcome)
    }
}
