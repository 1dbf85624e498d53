import Locking
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// IPv6 routes that share a nexthop object, as routing daemons make them: the kernel keeps for each processor the last
/// route that packets took by the object, also once that is gone, and refuses `RTM_GETROUTE` then, though connections
/// find their way (`inet6_rtm_getroute`, `fib6_drop_pcpu_from`; seen on 6.18).
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

    /// Takes the preferred route away after all processors have used it; the other one leads the same way.
    private func makeStale() throws {
        let destination = try #require(far)
        try lab.run { try Processors.onEach { _ = try lab.connectUDP(to: destination) } }
        try lab.rtnl.route(.delete, Self.route(400))
        // Where the kernel does not do so, this file tests nothing that others don't.
        #expect(try lab.connectUDP(to: destination) == .connected(source: #require(IPAddress("2001:db8::2"))))
    }

    @Test func `who starts then sees the path`() throws {
        try makeStale()
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        let view = try probe.engine.view()
        #expect(view.isSettled)
        #expect(view.evaluation.path.interface?.name == "wan0")
        #expect(probe.statuses == [.wifi])
    }

    @Test func `who watches sees no outage`() throws {
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().isSettled)
        try makeStale()
        try probe.wait(for: "the other route") { $0.path.ipv6?.metric == 500 }
        #expect(try probe.engine.view().isSettled)
        #expect(probe.statuses.allSatisfy { $0 == .wifi })
        #expect(probe.engine.counters.mismatches == 0)
    }

    @Test func `who may not use every interface has the one that is allowed`() throws {
        try makeStale()
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        let path = try probe.engine.path(to: #require(far), requiring: .notCellular)
        #expect(path.status == .wifi)
        #expect(path.interface?.name == "wan0")
    }

    @Test func `a destination is reached`() throws {
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().isSettled)
        try makeStale()
        try probe.wait(for: "the other route") { $0.path.ipv6?.metric == 500 }
        let path = try probe.engine.path(to: #require(far))
        #expect(path.status == .wifi)
        #expect(path.interface?.name == "wan0")
        let paths = LabInbox<DestinationPath>()
        let watch = try probe.engine.watch(#require(far)) { paths.put($0) }
        defer { watch.cancel() }
        try paths.wait(for: "the way") { !$0.isEmpty }
        #expect(paths.all.map(\.status) == [.wifi])
    }
}
