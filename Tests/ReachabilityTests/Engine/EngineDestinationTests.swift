import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// The path to one destination.
@Suite struct EngineDestinationTests {
    @Test func `the path is the kernel's own reply, or its refusal`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        _ = try probe.engine.view()
        let near = try probe.engine.waitForPath(to: #require(IPAddress("192.0.2.9")))
        #expect(near.status == .wifi)
        #expect(near.interface?.name == "wan0")
        let far = try probe.engine.waitForPath(to: #require(IPAddress("203.0.113.1")))
        #expect(far.status == .notReachable)
        #expect(far.outcome == .refused(errno: 101, .noRoute))
        let own = try probe.engine.waitForPath(to: #require(IPAddress("192.0.2.2")))
        #expect(own.status == .wifi)
        #expect(own.interface?.name == "lo")
    }

    @Test func `a watched destination follows routes that are not default`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.makeUplink("lan0", index: 11, address: "198.51.100.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        let paths = LabInbox<DestinationPath>()
        let watch = try probe.engine.watch(#require(IPAddress("203.0.113.7"))) { paths.put($0) }
        try paths.wait(for: "the way by default") { $0.last?.interface?.name == "wan0" }
        try lab.rtnl.addRoute("203.0.113.0/24", via: "198.51.100.1", on: "lan0")
        try paths.wait(for: "the specific way") { $0.last?.interface?.name == "lan0" }
        // Irrelevant to the destination.
        try lab.rtnl.addRoute("10.0.0.0/8", via: "198.51.100.1", on: "lan0")
        try lab.rtnl.deleteRoute("203.0.113.0/24", via: "198.51.100.1", on: "lan0")
        try paths.wait(for: "the way by default again") { $0.count == 3 }
        #expect(paths.all.map { $0.interface?.name } == ["wan0", "lan0", "wan0"])
        watch.cancel()
        try lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wan0")
        try probe.wait(for: .notReachable)
        _ = try probe.engine.view()
        #expect(paths.all.count == 3)
        #expect(probe.engine.counters.mismatches == 0)
    }

    @Test func `a watch outlives the run`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let engine = MonitorEngine(.init()) { _ in }
        let paths = LabInbox<DestinationPath>()
        let watch = try engine.watch(#require(IPAddress("203.0.113.7"))) { paths.put($0) }
        defer { watch.cancel() }
        try lab.run { try engine.start() }
        try paths.wait(for: "the first") { $0.last?.status == .notReachable }
        engine.stop()
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        try lab.run { try engine.start() }
        defer { engine.stop() }
        try paths.wait(for: "the second") { $0.last?.status == .wifi }
    }
}
