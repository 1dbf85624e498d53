import Testing

@testable import Reachability

@Suite("ReachabilityMonitor", .timeLimit(.minutes(10)))
struct ReachabilityMonitorTests {
    @Test("Status, path and latest change are the last published ones")
    func current() throws {
        let (monitor, source) = try makeFakeMonitor()
        #expect(monitor.status == .unknown)
        for status in [ReachabilityStatus.wifi, .cellular, .notReachable, .unknown] {
            source.publish(status)
            #expect(monitor.status == status)
            #expect(monitor.path.status == status)
            #expect(monitor.latestChange?.status == status)
        }
        #expect(monitor.latestChange?.sequence == 4)
    }

    @Test("Within an immediate closure, the monitor has the same state as the closure")
    func currentInside() throws {
        let (monitor, source) = try makeFakeMonitor()
        let agreements = Collector<Bool>()
        let subscription = monitor.subscribe(on: .immediate) { [weak monitor] change in
            agreements.append(monitor?.status == change.status && monitor?.path == change.path)
        }
        source.publish(.wifi, .cellular)
        #expect(agreements.elements == [true, true])
        withExtendedLifetime(subscription) {}
    }

    @Test("Subscribers receive the stop of a monitor, and the state again after its next start")
    func restart() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let heard = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe { heard.append($0) }
        source.publish(.wifi)
        monitor.stop()
        #expect(monitor.status == .unknown)
        #expect(monitor.path.reasons == [.notStarted])
        monitor.stop()

        try monitor.start()
        try monitor.start()
        #expect(source.starts == 2)
        source.publish(.cellular)
        let changes = try await heard.wait(count: 3)
        #expect(changes.map(\.status) == [.wifi, .unknown, .cellular])
        monitor.stop()
        withExtendedLifetime(subscription) {}
    }

    @Test("A subscriber of a stopped monitor receives nothing before the next state", arguments: Place.allCases)
    func subscribeWhileStopped(_ place: Place) async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.wifi)
        monitor.stop()
        let heard = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: place.makeDelivery().delivery) { heard.append($0) }
        try monitor.start()
        source.publish(.cellular)
        #expect(try await heard.wait(count: 1).map(\.status) == [.cellular])
        withExtendedLifetime(subscription) {}
    }

    @Test("An immediate closure can stop the monitor; later calls only report the stop")
    func stopInside() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let heard = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: .immediate) { [weak monitor] change in
            heard.append(change)
            if change.sequence == 1 { monitor?.stop() }
        }
        source.perform { source.send(.test(.wifi)) }.expectTrue()
        let changes = try await heard.wait(count: 2)
        #expect(changes.map(\.path.reasons) == [[], [.notStarted]])
        #expect(source.thread == nil)
        withExtendedLifetime(subscription) {}
    }

    @Test("A subscriber's closure may release the monitor's last reference", arguments: Place.allCases)
    func releaseInside(_ place: Place) async throws {
        let released = Collector<Bool>()
        let box = Box<Subscription>()
        do {
            let (monitor, source) = try makeFakeMonitor()
            let token = Token { released.append(true) }
            box.value = monitor.subscribe(on: place.makeDelivery().delivery) { [weak box] _ in
                withExtendedLifetime(token) { box?.value = nil }
            }
            source.perform { source.send(.test(.wifi)) }.expectTrue()
        }
        try await released.wait(count: 1)
    }

    @Test("A failed start throws, is remembered, and can be retried")
    func failedStart() throws {
        let (monitor, source) = try makeFakeMonitor(started: false)
        let error = ReachabilityError(.netlinkFailed, errno: 97, "socket")
        source.failStart(with: error)
        #expect(throws: error) { try monitor.start() }
        #expect(monitor.startError == error)
        #expect(monitor.status == .unknown)

        source.failStart(with: nil)
        try monitor.start()
        #expect(monitor.startError == nil)
    }

    @Test("A shared monitor that cannot start reports the error to its subscribers", arguments: Place.allCases)
    func sharedFailure(_ place: Place) async throws {
        let error = ReachabilityError(.netlinkFailed, errno: 97, "socket")
        let monitor = ReachabilityMonitor.started { FakeSource(startError: error, $0) }
        #expect(monitor.startError == error)
        let heard = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: place.makeDelivery().delivery) { heard.append($0) }
        let changes = try await heard.wait(count: 1)
        #expect(changes.map(\.status) == [.unknown])
        #expect(changes.map(\.reasons) == [[.netlinkFailed]])
        #expect(changes.first?.event == .state)
        withExtendedLifetime(subscription) {}
    }
}

extension Bool {
    /// For calls whose result must be true.
    func expectTrue(_ sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self, sourceLocation: sourceLocation)
    }
}
