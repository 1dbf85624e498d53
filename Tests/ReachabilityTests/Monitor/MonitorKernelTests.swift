import NetworkLab
import Testing

@testable import Reachability

@Suite("ReachabilityMonitor on the real kernel", .timeLimit(.minutes(10)))
struct MonitorKernelTests {
    @Test("Closures receive that the link goes down and up", arguments: Place.allCases)
    func closures(_ place: Place) async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        let heard = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: place.makeDelivery().delivery) { heard.append($0) }
        try await heard.wait(count: 1)
        try uplink.goDown()
        try await heard.wait { $0.last?.status == .notReachable }
        try uplink.comeBack()
        try await heard.wait { $0.last?.status == .wifi }

        let changes = heard.elements
        #expect(changes.first?.event == .state && changes.first?.status == .wifi)
        // While the kernel takes the link down, the reasons may change once more: first the interface is down, then there is
        // no route either.
        let between = changes.dropFirst().dropLast()
        #expect(!between.isEmpty && between.allSatisfy { $0.status == .notReachable })
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.path != $1.path })
        #expect(changes.map(\.sequence).elementsEqual(1...UInt64(changes.count)))
        #expect(changes.last?.path.ipv4?.gateway == IPAddress("192.0.2.1"))
        withExtendedLifetime(subscription) {}
    }

    @Test("A sequence has that the link goes down and up")
    func sequence() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        var iterator = monitor.changes.makeAsyncIterator()
        #expect(await iterator.next()?.status == .wifi)
        try uplink.goDown()
        #expect(await iterator.next()?.status == .notReachable)
        try uplink.comeBack()
        // While the link goes down the reasons may change once more.
        var change = await iterator.next()
        while change?.status == .notReachable { change = await iterator.next() }
        #expect(change?.status == .wifi)
    }

    @Test("A wait ends when the link goes down or up")
    func waiting() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        try await monitor.wait(for: .wifi, timeout: .seconds(120))
        async let isDown = monitor.wait(for: .notReachable, timeout: .seconds(120))
        try uplink.goDown()
        // The change that it receives depends on when it begins to wait; so do the reasons.
        #expect(try await isDown.status == .notReachable)
        async let isBack = monitor.wait(for: .reachable, timeout: .seconds(120))
        try uplink.comeBack()
        #expect(try await isBack.path.interface?.name == "wan0")
        #expect(monitor.status == .wifi)
        #expect(monitor.path.interface?.name == "wan0")
    }

    @Test("A wait with a requirement continues while the path does not meet it")
    func waitingForRequirement() async throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wwan0", index: 11, address: "198.51.100.2/24")
        try lab.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700)
        var configuration = MonitorConfiguration()
        configuration.kindRules = [.init(pattern: "wlan*", kind: .wifi), .init(pattern: "wwan*", kind: .cellular)]
        let monitor = try lab.run { try ReachabilityMonitor(configuration: configuration) }
        #expect(try await monitor.wait(for: .path(.any), timeout: .seconds(120)).path.uses(.cellular))
        let error = await #expect(throws: ReachabilityError.self) {
            try await monitor.wait(for: .path(.notCellular), timeout: .milliseconds(10))
        }
        #expect(error?.subject == "reachable, notCellular")
        async let isThere = monitor.wait(for: .path(.notCellular), timeout: .seconds(120))
        try lab.makeUplink("wlan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        let path = try await isThere.path
        #expect(path.uses(.wifi) && !path.uses(.cellular) && path.meets(.wifi))
    }

    @Test("A wait that times out throws the last state")
    func timeout() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        try uplink.goDown()
        // After the interface, the kernel takes the route away.
        _ = await monitor.changes.first { $0.path.reasons.contains(.noRoute) }
        let error = await #expect(throws: ReachabilityError.self) {
            try await monitor.wait(for: .reachable, timeout: .milliseconds(10))
        }
        #expect(error?.path?.reasons.contains(.noRoute) == true)
        #expect(error?.description.contains("path.noRoute") == true)
    }

    @Test("A monitor that is stopped and started again, also by a closure, has the current state")
    func restart() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        let heard = Collector<ReachabilityChange>()
        let subscription = monitor.subscribe(on: .immediate) { [weak monitor] change in
            heard.append(change)
            // The event thread is already in the namespace, and so is the thread that it starts.
            guard change.status == .notReachable else { return }
            monitor?.stop()
            #expect(throws: Never.self) { try monitor?.start() }
        }
        try await heard.wait(count: 1)
        try uplink.goDown()
        try await heard.wait { $0.count == 4 || $0.last?.status == .unknown }
        try uplink.comeBack()
        try await heard.wait { $0.last?.status == .wifi && $0.count > 2 }
        #expect(heard.elements.contains { $0.path.reasons == [.notStarted] })
        subscription.cancel()
        monitor.stop()
        #expect(monitor.status == .unknown)
    }

    @Test("The view has the model and the evaluation of the state")
    func view() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        let view = try await monitor.view(within: .seconds(120))
        #expect(view.isSettled)
        #expect(view.evaluation.path.status == .wifi)
        #expect(view.snapshot.links.contains { $0.name == "wan0" })
        #expect(monitor.counters.published >= 1)
        monitor.stop()
        await #expect(throws: ReachabilityError.self) { try await monitor.view() }
    }

    @Test("Routes more specific than a default route appear and go, and nothing else changes")
    func specificRoutes() async throws {
        let uplink = try TestUplink()
        try uplink.lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wan0")
        let monitor = try uplink.startMonitor()
        let prefixes = ["22.0.0.0/8", "215.0.0.0/8"]
        for _ in 0..<20 {
            for prefix in prefixes { try uplink.lab.rtnl.addRoute(prefix, via: "192.0.2.1", on: "wan0") }
            try await monitor.wait(for: .reachable, timeout: .seconds(60))
            for prefix in prefixes { try uplink.lab.rtnl.deleteRoute(prefix, via: "192.0.2.1", on: "wan0") }
            try await monitor.wait(for: .notReachable, timeout: .seconds(60))
        }
        #expect(monitor.counters.mismatches == 0)
    }

    @Test("The shared monitor runs, and is always the same object")
    func shared() async throws {
        #expect(ReachabilityMonitor.shared === ReachabilityMonitor.shared)
        #expect(ReachabilityMonitor.shared.startError == nil)
        // The test depends only on the fact that this machine's state is known.
        let first = await ReachabilityMonitor.shared.changes.first { _ in true }
        #expect(first?.status != .unknown)
    }
}

/// A namespace with one uplink, `wan0`, and a default route through it.
final class TestUplink: Sendable {
    let lab: LabNamespace

    init() throws {
        lab = try LabNamespace()
        try lab.rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try lab.rtnl.setUp("wan0", "far0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "wan0")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
    }

    /// Makes a monitor of the namespace.
    func startMonitor() throws -> ReachabilityMonitor {
        try lab.run { try ReachabilityMonitor() }
    }

    /// Makes a monitor of the namespace that resolves names by a table.
    func startMonitor(_ names: Names) throws -> ReachabilityMonitor {
        let monitor = ReachabilityMonitor(lookup: names.lookup) { MonitorEngine(.init(), sink: $0) }
        try lab.run { try monitor.start() }
        return monitor
    }

    /// Sets the link down, so that the kernel flushes the route.
    func goDown() throws {
        try lab.rtnl.setDown("wan0")
    }

    /// Sets the link up and adds the route again.
    func comeBack() throws {
        try lab.rtnl.setUp("wan0")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
    }
}
