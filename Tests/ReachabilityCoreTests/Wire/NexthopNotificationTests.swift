import NetworkLab
import ReachabilityCore
import Testing

@Suite("Notifications of nexthop objects")
struct NexthopNotificationTests {
    @Test
    func `a notification that repeats its request's flags, NLM_F_REQUEST included, is not a request`() throws {
        let lab = try LabNamespace()
        try lab.rtnl.createIFB("ifb0")
        try lab.rtnl.setUp("ifb0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "ifb0")
        let events = try LabEvents(in: lab, [.nexthops])
        try lab.rtnl.addNexthop(7, via: "192.0.2.1", on: "ifb0")
        try lab.rtnl.deleteNexthop(7)
        let seen = try events.pending()
        #expect(seen.count == 2)
        guard case .nexthop(let added)? = seen.first, case .nexthopRemoved(let removed)? = seen.last else {
            Issue.record("seen: \(seen)")
            return
        }
        #expect(added.id == 7 && removed.id == 7)
        #expect(added.nextHop?.gateway == IPAddress("192.0.2.1"))
    }
}
