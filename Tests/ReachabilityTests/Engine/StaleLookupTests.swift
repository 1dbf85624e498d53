import Locking
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// IPv6 routes that share a nexthop object, as routing daemons make them: for each processor the kernel keeps the last
/// route that packets took through the object, even when it is gone, and then refuses `RTM_GETROUTE`, although
/// connections succeed (`inet6_rtm_getroute`, `fib6_drop_pcpu_from`; seen on 6.18).
@Suite struct StaleLookupTests {
    private let lab: LabNamespace
    private let far = IPAddress("2001:db8:7::7")

    init() throws {
        lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "2001:db8::2/64")
        try lab.rtnl.addNexthop(7, via: "fe80::1", on: "wan0")
        for metric in [400, 500] as [UInt32] { try lab.rtnl.route(.add, Self.route(metric)) }
    }

    private static func route(_ metric: UInt32) -> RouteMessage {
        var route = RouteMessage(destination: .all(.ipv6))
        route.nexthopID = 7
        route.metric = metric
        return route
    }

    /// Removes the preferred route after all processors have used it; the other one uses the same nexthop object.
    private func makeStale() throws {
        let destination = try #require(far)
        try lab.run { try Processors.onEach { _ = try lab.connectUDP(to: destination) } }
        try lab.rtnl.route(.delete, Self.route(400))
        // On kernels without this behaviour, other files test the same.
        #expect(try lab.connectUDP(to: destination) == .connected(source: #require(IPAddress("2001:db8::2"))))
    }

    @Test func `a monitor that starts then has the path`() throws {
        try makeStale()
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        let view = try probe.engine.view()
        #expect(view.isSettled)
        #expect(view.evaluation.path.interface?.name == "wan0")
        #expect(probe.statuses == [.wifi])
    }

    @Test func `a running monitor reports no outage`() throws {
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().isSettled)
        try makeStale()
        try probe.wait(for: "the other route") { $0.path.ipv6?.metric == 500 }
        #expect(try probe.engine.view().isSettled)
        #expect(probe.statuses.allSatisfy { $0 == .wifi })
        #expect(probe.engine.counters.mismatches == 0)
    }

    @Test func `a path with a requirement uses the allowed interface`() throws {
        try makeStale()
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().isSettled)
        let path = try probe.engine.waitForPath(to: #require(far), requiring: .notCellular)
        #expect(path.status == .wifi)
        #expect(path.interface?.name == "wan0")
    }

    /// Adds routes whose dump takes longer than the first evaluation, which needs the links alone.
    private func addManyRoutes() throws {
        for number in 1...20_000 {
            let text = "2001:db8:8::\(String(number, radix: 16))"
            var route = RouteMessage(destination: .init(try #require(IPAddress(text)), length: 128))
            route.nextHops = [.init(interface: 10)]
            try lab.rtnl.route(.add, route)
        }
    }

    @Test func `a path with a requirement is not denied before all routes have been read`() throws {
        try addManyRoutes()
        try makeStale()
        var count = 0
        for _ in 0..<30 where count < 10 {
            let probe = try EngineProbe(in: lab)
            defer { probe.engine.stop() }
            let start = ContinuousClock.now
            let path = try probe.engine.waitForPath(to: #require(far), requiring: .notCellular)
            // An answer that took longer may be what was known by then.
            guard ContinuousClock.now - start < MonitorEngine.settlingTime else { continue }
            #expect(path.interface?.name == "wan0")
            count += 1
        }
        #expect(count == 10)
    }

    @Test func `a caller that does not wait learns that the path is not known, and when it is`() throws {
        try addManyRoutes()
        try makeStale()
        let destination = try #require(far)
        for _ in 0..<10 {
            let probe = try EngineProbe(in: lab)
            defer { probe.engine.stop() }
            let paths = LabInbox<DestinationPath>()
            let look: @Sendable () -> Void = {
                if let path = try? probe.engine.knownPath(to: destination, requiring: .notCellular) { paths.put(path) }
            }
            let watch = probe.engine.watch([destination], look)
            defer { watch.cancel() }
            look()
            // The two threads that look may note what they have found in another order.
            try paths.wait(for: "the path") { $0.contains { $0.interface?.name == "wan0" } }
            #expect(paths.all.allSatisfy { $0.isReachable || $0.status == .unknown && $0.reasons == [.reading] })
        }
    }

    @Test func `a destination is reachable`() throws {
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().isSettled)
        try makeStale()
        try probe.wait(for: "the other route") { $0.path.ipv6?.metric == 500 }
        let path = try probe.engine.waitForPath(to: #require(far))
        #expect(path.status == .wifi)
        #expect(path.interface?.name == "wan0")
        let paths = LabInbox<DestinationPath>()
        let watch = try probe.engine.watch(#require(far)) { paths.put($0) }
        defer { watch.cancel() }
        try paths.wait(for: "the way") { !$0.isEmpty }
        #expect(paths.all.map(\.status) == [.wifi])
    }
}
