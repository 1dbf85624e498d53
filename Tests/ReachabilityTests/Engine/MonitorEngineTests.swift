import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// The engine against the real kernel.
@Suite struct MonitorEngineTests {
    @Test func `an added and removed default route is published`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        try probe.wait(for: .notReachable)

        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let change = try probe.wait(for: .wifi)
        #expect(change.event == .change)
        #expect(change.reasons == [.routeAdded])
        #expect(change.path.interface?.name == "wan0")
        #expect(change.path.ipv4?.gateway?.description == "192.0.2.1")
        #expect(change.path.ipv4?.source.description == "192.0.2.2")

        try lab.rtnl.deleteRoute("default", on: "wan0")
        try probe.wait(for: .notReachable)
        #expect(probe.statuses == [.notReachable, .wifi, .notReachable])
        #expect(probe.engine.counters.mismatches == 0)
    }
}
