import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite("Lookups and sockets of the lab")
struct LookupTests {
    private let lab: LabNamespace
    private var rtnl: Rtnl { lab.rtnl }

    init() throws {
        lab = try LabNamespace()
        try lab.rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try lab.rtnl.setUp("wan0", "far0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "wan0")
        try lab.rtnl.addAddress("2001:db8::2/64", on: "wan0")
    }

    @Test("The kernel's reply has table, link, gateway and source", arguments: AddressFamily.allCases)
    func reply(family: AddressFamily) throws {
        let (gateway, source) = family == .ipv4 ? ("192.0.2.1", "192.0.2.2") : ("2001:db8::1", "2001:db8::2")
        try rtnl.addRoute("default", via: gateway, on: "wan0")
        let probe = ProbeAddresses.of(family)[0]
        let route = try rtnl.lookup("\(probe)")
        #expect(route.table == .main)
        #expect(route.nextHops == [.init(interface: 10, gateway: IPAddress(gateway))])
        #expect(route.preferredSource == IPAddress(source))
        #expect(try lab.connectUDP(to: probe) == .connected(source: #require(IPAddress(source))))
    }

    @Test("A refusal has the errno of the route's type, in a lookup and in connect(2)")
    func refusals() throws {
        let probe = ProbeAddresses.ipv4[0]
        #expect(try lab.connectUDP(to: probe) == .refused(errno: ENETUNREACH))
        for (type, code) in [(RouteType.unreachable, EHOSTUNREACH), (.prohibit, EACCES), (.blackhole, EINVAL)] {
            var route = RouteMessage(destination: .all(.ipv4))
            route.type = type
            try rtnl.route(.replace, route)
            #expect(throws: LabError("look up \(probe)", errno: code)) { try rtnl.lookup("\(probe)") }
            #expect(try lab.connectUDP(to: probe) == .refused(errno: code))
        }
    }

    @Test("Rules select by mark, user, ports, protocol and source")
    func selectors() throws {
        var flow = ProbeFlow(to: ProbeAddresses.ipv4[0], user: 0)
        flow.sourcePort = 50_000
        try rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        try expectProhibited(flow, .init()) { $0.users = 0...0 }
        try expectProhibited(flow, .init()) { $0.destinationPorts = .init(first: 443, last: 443) }
        try expectProhibited(flow, .init()) { $0.sourcePorts = .init(first: 50_000, last: 50_000) }
        try expectProhibited(flow, .init()) { $0.ipProtocol = 17 }
        var options = LookupOptions()
        options.mark = 9
        try expectProhibited(flow, options) { $0.mark = .init(value: 9, mask: 0xFF) }
        flow.source = try #require(IPAddress("192.0.2.2"))
        try expectProhibited(flow, .init()) { $0.source = .init(flow.source, length: 32) }
    }

    @Test("Rules also select by a socket's source, ports and mark")
    func boundSockets() throws {
        try rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let probe = ProbeAddresses.ipv4[0]
        let source = try #require(IPAddress("192.0.2.2"))
        var rule = rule()
        rule.source = .init(source, length: 32)
        rule.sourcePorts = .init(first: 50_001, last: 50_001)
        rule.mark = .init(value: 3, mask: 3)
        try rtnl.addRule(rule)
        let allowed = ConnectOutcome.connected(source: source)
        #expect(try lab.connectUDP(to: probe, from: source, sourcePort: 50_001, mark: 2) == allowed)
        #expect(try lab.connectUDP(to: probe, from: source, sourcePort: 50_002, mark: 3) == allowed)
        let refused = ConnectOutcome.refused(errno: EACCES)
        #expect(try lab.connectUDP(to: probe, from: source, sourcePort: 50_001, mark: 3) == refused)
    }

    @Test("A source port is free again immediately, even if other threads start programs meanwhile")
    func sourcePort() throws {
        try rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let source = try #require(IPAddress("192.0.2.2"))
        let ends = LabInbox<Int32?>()
        let thread = try LabThread {
            for _ in 0..<50 { ends.put(try? LabProcess.run("/bin/true").code) }
        }
        while ends.all.count < 50 {
            let outcome = try lab.connectUDP(to: ProbeAddresses.ipv4[0], sourcePort: 50_000)
            #expect(outcome == .connected(source: source))
        }
        thread.join()
        #expect(ends.all.allSatisfy { $0 == 0 })
    }

    @Test("A bound socket's destination is treated as on the link if the rules refuse it (IPv4)")
    func outputInterface() throws {
        try rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        var rule = rule()
        rule.outputInterface = "wan0"
        try rtnl.addRule(rule)
        var options = LookupOptions()
        #expect(try rtnl.lookup(ProbeFlow(to: ProbeAddresses.ipv4[0], user: 0), options).nextHops.first?.gateway != nil)
        options.outputInterface = 10
        #expect(try rtnl.lookup(ProbeFlow(to: ProbeAddresses.ipv4[0], user: 0), options).nextHops.first?.gateway == nil)
    }

    @Test("With matchesTable the reply is the route in its table")
    func matchesTable() throws {
        try rtnl.addRoute("default", via: "192.0.2.1", on: "wan0", metric: 77)
        var options = LookupOptions()
        options.matchesTable = true
        let route = try rtnl.lookup(ProbeFlow(to: ProbeAddresses.ipv4[0], user: 0), options)
        #expect(route.destination == .all(.ipv4))
        #expect(route.metric == 77)
    }

    /// Expects that a lookup succeeds, and that with the rule it does not.
    private func expectProhibited(
        _ flow: ProbeFlow,
        _ options: LookupOptions,
        _ change: (inout RuleMessage) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var rule = rule()
        change(&rule)
        #expect(throws: Never.self, sourceLocation: sourceLocation) { try rtnl.lookup(flow, options) }
        try rtnl.addRule(rule)
        let refusal = LabError("look up \(flow.destination)", errno: EACCES)
        #expect(throws: refusal, sourceLocation: sourceLocation) { try rtnl.lookup(flow, options) }
        try rtnl.deleteRule(rule)
    }

    private func rule() -> RuleMessage {
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 100
        rule.action = .prohibit
        return rule
    }
}
