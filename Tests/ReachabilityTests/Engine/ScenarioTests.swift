import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// A machine with Wi-Fi and a modem as fallback, through all changes of its default path.
@Suite struct ScenarioTests {
    @Test func `the states follow the network without omissions or repetitions`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wlan0", index: 10, address: "192.0.2.2/24")
        try lab.makeUplink("wwan0", index: 11, address: "198.51.100.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try lab.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700)
        var configuration = MonitorConfiguration()
        configuration.kindRules = [.init(pattern: "wlan*", kind: .wifi), .init(pattern: "wwan*", kind: .cellular)]
        let probe = try EngineProbe(in: lab, configuration)
        defer { probe.engine.stop() }

        var story = Story(probe: probe)
        try story.expect(.wifi, [.initial])
        #expect(try probe.engine.view().isSettled)
        try lab.rtnl.setDown("far-wlan0")
        try story.expect(.notReachable, [.carrierLost], fault: .noCarrier)
        try lab.rtnl.setUp("far-wlan0")
        try story.expect(.wifi, [.carrierGained])
        try lab.setSysctl("net.ipv4.conf.wlan0.ignore_routes_with_linkdown", to: 1)
        try lab.rtnl.setDown("far-wlan0")
        try story.expect(.cellular, [.carrierLost])
        try lab.rtnl.setDown("wlan0")
        try lab.rtnl.setDown("wwan0")
        try story.expect(.notReachable, [.linkDown, .routeFlushed])
        try lab.rtnl.setUp("wwan0")
        try lab.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0")
        try story.expect(.cellular, [.routeAdded])
        #expect(probe.engine.counters.mismatches == 0, "\(probe.changes.all)")
        try lab.rtnl.deleteAddress("198.51.100.2/24", on: "wwan0")
        try story.expect(.notReachable, [.addressRemoved, .routeFlushed])
        try lab.rtnl.addAddress("2001:db8::2/64", on: "wwan0")
        try lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wwan0", family: .ipv6)
        try story.expect(.cellular, [.routeAdded])
        var unreachable = RouteMessage(destination: .all(.ipv6))
        unreachable.type = .unreachable
        unreachable.metric = 1
        try lab.rtnl.route(.add, unreachable)
        try story.expect(.notReachable, [.routeAdded], fault: .unreachable)

        // The last published state is the current one; there was no other.
        let view = try probe.engine.view()
        #expect(view.isSettled)
        #expect(view.evaluation.path == probe.changes.all.last?.path)
        #expect(probe.changes.all.count == story.count)
        #expect(probe.engine.counters.overruns == 0)
    }

    /// Makes the changes one by one.
    private struct Story {
        let probe: EngineProbe
        var count = 0

        mutating func expect(
            _ status: ReachabilityStatus,
            _ reasons: [ReachabilityReason],
            fault: ReachabilityReason? = nil
        ) throws {
            count += 1
            let count = count
            let all = try probe.changes.wait(for: "\(status.name), change \(count)") { $0.count >= count }
            let change = all[count - 1]
            #expect(change.status == status, "\(all)")
            #expect(Set(change.reasons).isSuperset(of: reasons), "\(change.reasons)")
            #expect(change.sequence == UInt64(count))
            if let fault { #expect(change.path.reasons.contains(fault)) }
        }
    }
}
