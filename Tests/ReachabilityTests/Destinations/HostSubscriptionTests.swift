import Glibc
import LinuxSystem
import Locking
import NetworkLab
import Synchronization
import Testing

@testable import Reachability

/// Live subscriptions to a host's name, in real network namespaces.
@Suite(.timeLimit(.minutes(10))) struct HostSubscriptionTests {
    private static let near = "192.0.2.7"
    private static let far = "203.0.113.7"

    @Test func `the paths to a name's addresses are reported, and again when a route changes`() async throws {
        let uplink = try TestUplink()
        let names = Names(["robot.example": [Self.far, "2001:db8::7"]])
        let monitor = try uplink.startMonitor(names)
        let heard = Collector<HostPath>()
        let subscription = monitor.subscribe(to: "robot.example") { heard.append($0) }
        try await heard.wait { $0.last?.paths.count == 2 }
        #expect(heard.elements.last?.host == "robot.example")
        #expect(heard.elements.last?.paths.map(\.isReachable) == [true, false])
        #expect(heard.elements.last?.best?.gateway == IPAddress("192.0.2.1"))
        try uplink.lab.rtnl.addRoute("203.0.113.0/24", via: "192.0.2.9", on: "wan0")
        try await heard.wait { $0.last?.best?.gateway == IPAddress("192.0.2.9") }
        subscription.cancel()
    }

    @Test func `a name is resolved again when the network changes`() async throws {
        let uplink = try TestUplink()
        let names = Names(["robot.example": [Self.far]])
        let monitor = try uplink.startMonitor(names)
        let heard = Collector<HostPath>()
        let subscription = monitor.subscribe(to: "robot.example") { heard.append($0) }
        try await heard.wait { $0.last?.isReachable == true }
        names.set("robot.example", [Self.near])
        try uplink.goDown()
        // A resolution may have begun before the link went down.
        try await heard.wait {
            $0.last?.paths.map { "\($0.destination)" } == [Self.near] && $0.last?.isReachable == false
        }
        try uplink.comeBack()
        try await heard.wait { $0.last?.isReachable == true }
        subscription.cancel()
    }

    @Test func `lookups that hang delay no subscriber of the path`() async throws {
        let uplink = try TestUplink()
        let names = HangingNames()
        let monitor = ReachabilityMonitor(lookup: names.lookup) { MonitorEngine(.init(), sink: $0) }
        try uplink.lab.run { try monitor.start() }
        defer { names.release() }
        let hosts = (0..<2 * ThreadPool.limit).map { "robot\($0).example" }
        let watches = hosts.map { monitor.subscribe(to: $0) { (_: HostPath) in } }
        try await names.waitForLookups(ThreadPool.limit)
        let heard = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe { heard.append($0) }
        try await heard.wait(count: 1)
        withExtendedLifetime((watches, subscription)) {}
    }

    @Test func `a failed resolution is reported, and retried until it succeeds`() async throws {
        let uplink = try TestUplink()
        let names = Names([:])
        let monitor = try uplink.startMonitor(names)
        let heard = Collector<HostPath>()
        let subscription = monitor.subscribe(to: "robot.example") { heard.append($0) }
        try await heard.wait { $0.last?.resolutionError?.code == .nameServerUnavailable }
        #expect(heard.elements.last?.paths.isEmpty == true)
        names.set("robot.example", [Self.near])
        try await heard.wait { $0.last?.isReachable == true }
        #expect(heard.elements.last?.resolutionError == nil)
        subscription.cancel()
    }

    @Test(arguments: [Self.far, "localhost"]) func `a sequence begins with the current paths`(host: String) async throws
    {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        let path = await monitor.paths(to: host).first { _ in true }
        #expect(path?.host == host)
        #expect(path?.isReachable == true)
        #expect(path?.paths.isEmpty == false)
    }

    @Test func `a cancelled subscription stops watching`() async throws {
        let (monitor, source) = try makeFakeMonitor(names: Names(["robot.example": [Self.far, Self.near]]))
        source.setPath(.test(IPAddress(ipv4: 1), .wifi))
        let heard = Collector<HostPath>()
        let subscription = monitor.subscribe(to: "robot.example") { heard.append($0) }
        try await heard.wait(count: 1)
        #expect(source.watchCount == 2)
        subscription.cancel()
        // A path may be reported while its watch is being added; that watch ends a moment later.
        let deadline = ContinuousClock.now + .seconds(120)
        while source.watchCount > 0, ContinuousClock.now < deadline { await Polling.pause() }
        #expect(source.watchCount == 0)
        source.setPath(.test(IPAddress(ipv4: 1), .cellular))
        #expect(heard.elements.count == 1)
    }

    @Test func `a subscription keeps its monitor alive, and no longer than it lasts`() async throws {
        weak var released: ReachabilityMonitor?
        do {
            let subscription: Subscription
            do {
                let (monitor, _) = try makeFakeMonitor(names: Names([:]))
                released = monitor
                subscription = monitor.subscribe(to: "robot.example") { _ in }
            }
            #expect(released != nil)
            subscription.cancel()
        }
        let deadline = ContinuousClock.now + .seconds(120)
        while released != nil, ContinuousClock.now < deadline { await Polling.pause() }
        #expect(released == nil)
    }

    @Test func `a wait for a host ends when one of its addresses is reachable`() async throws {
        let uplink = try TestUplink()
        try uplink.goDown()
        let names = Names(["robot.example": [Self.far]])
        let monitor = try uplink.startMonitor(names)
        let wait = Task { try await monitor.wait(forHost: "robot.example", timeout: .seconds(300)) }
        try await monitor.wait(for: .notReachable, timeout: .seconds(120))
        try uplink.comeBack()
        let path = try await wait.value
        #expect(path.best?.interface?.name == "wan0")
    }

    @Test func `a wait for a host that stays unreachable ends at its timeout`() async throws {
        let uplink = try TestUplink()
        try uplink.goDown()
        let monitor = try uplink.startMonitor()
        let error = await #expect(throws: ReachabilityError.self) {
            try await monitor.wait(forHost: Self.far, timeout: .milliseconds(20))
        }
        #expect(error?.description.contains("'\(Self.far)' is not reachable within") == true)
    }
}

/// Names whose lookups hang, in place of the system's resolver.
final class HangingNames: Sendable {
    private let lookups = Collector<String>()
    private let isReleased = Atomic(false)

    /// Resolves a name once all are released.
    @Sendable
    func lookup(_ name: String) -> AddressLookup.Outcome {
        lookups.append(name)
        while !isReleased.load(ordering: .relaxed) { usleep(1_000) }
        return .failure(code: EAI_AGAIN, errno: 0)
    }

    /// Waits until as many lookups have begun.
    func waitForLookups(_ count: Int) async throws { try await lookups.wait(count: count) }

    /// Has all lookups end.
    func release() { isReleased.store(true, ordering: .relaxed) }
}

/// Names with addresses, in place of the system's resolver.
final class Names: Sendable {
    private let addresses: Lock<[String: [String]]>

    init(_ addresses: [String: [String]]) {
        self.addresses = .init(addresses)
    }

    /// Changes a name's addresses.
    func set(_ name: String, _ texts: [String]) { addresses.withLock { $0[name] = texts } }

    /// Resolves a name as the system's resolver does; for an unknown name no name server replies.
    @Sendable
    func lookup(_ name: String) -> AddressLookup.Outcome {
        guard let texts = addresses.withLock({ $0[name] }) else { return .failure(code: EAI_AGAIN, errno: 0) }
        return .addresses(texts.compactMap { IPAddress($0).map { .init($0) } })
    }
}
