import NetworkLab
import Testing

@testable import Reachability

/// The path of a socket that may not use every interface, on a machine with Wi-Fi and a modem.
@Suite(.timeLimit(.minutes(5))) struct RequirementTests {
    private let uplinks: LabUplinks
    private let monitor: ReachabilityMonitor
    private let ticks: LabInbox<Int>

    init() throws {
        let uplinks = try LabUplinks()
        var configuration = MonitorConfiguration()
        configuration.kindRules = LabUplinks.kinds
        configuration.expensiveInterfaces = ["dear*"]
        self.uplinks = uplinks
        monitor = try uplinks.home.run { [configuration] in try ReachabilityMonitor(configuration: configuration) }
        ticks = LabInbox()
        // A lookup waits five seconds at most for what is not read yet.
        _ = try monitor.view(within: .seconds(120))
    }

    /// Waits until the path meets a condition, which is checked at each tick.
    private func wait(
        to destination: String = LabUplinks.server,
        _ requirement: PathRequirement,
        for what: String,
        _ condition: (DestinationPath) -> Bool
    ) throws {
        let ticks = LabInbox<DestinationPath>()
        let address = try #require(IPAddress(destination))
        let watch = monitor.subscribeToChanges(affecting: [address]) { [monitor] in
            if monitor.status != .unknown, let path = try? monitor.lookup(address, meeting: requirement) {
                ticks.put(path)
            }
        }
        defer { watch.cancel() }
        try ticks.wait(for: what) { $0.last.map(condition) ?? false }
    }

    @Test(arguments: [LabUplinks.server, LabUplinks.serverIPv6])
    func `the kernel's own path is used if it meets the requirement`(server: String) async throws {
        let address = try #require(IPAddress(server))
        for requirement in [PathRequirement.any, .notCellular, .wifi, .notExpensive, .interface("wlan0")] {
            let path = try await monitor.path(to: address, meeting: requirement)
            #expect(path.isReachable, "\(requirement)")
            #expect(path.interface?.name == "wlan0", "\(requirement)")
            #expect(path.gateway != nil)
            #expect(path.source != nil)
        }
    }

    @Test(arguments: [LabUplinks.server, LabUplinks.serverIPv6])
    func `an interface that the kernel does not prefer is found`(server: String) async throws {
        let path = try await monitor.path(to: #require(IPAddress(server)), meeting: .interface("wwan0"))
        #expect(path.status == .cellular)
        #expect(path.interface?.name == "wwan0")
        #expect(path.isExpensive)
        #expect(path.carriers.map(\.name) == ["wwan0"])
    }

    @Test func `while the modem is preferred, a socket that may not use it uses Wi-Fi`() async throws {
        try uplinks.home.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 10)
        try wait(.any, for: "the modem") { $0.interface?.name == "wwan0" }
        for requirement in [PathRequirement.notCellular, .wifi, .notExpensive] {
            let path = try await monitor.path(to: #require(IPAddress(LabUplinks.server)), meeting: requirement)
            #expect(path.interface?.name == "wlan0", "\(requirement)")
            #expect(path.gateway == IPAddress("192.0.2.1"))
            #expect(path.source == IPAddress("192.0.2.2"))
        }
    }

    @Test(arguments: [LabUplinks.server, LabUplinks.serverIPv6])
    func `a route that the kernel only assumes for a bound socket is no path`(server: String) async throws {
        try uplinks.home.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try uplinks.home.rtnl.deleteRoute("default", via: "2001:db8:1::1", on: "wlan0", metric: 600)
        try wait(to: server, .notCellular, for: "no way") { !$0.isReachable }
        let path = try await monitor.path(to: #require(IPAddress(server)), meeting: .notCellular)
        #expect(path.interface == nil)
        #expect(path.reasons == [.notAllowed, .noRoute])
        #expect(path.ruledOut.map(\.interface.name) == ["wwan0", "wlan0"])
        #expect(path.ruledOut.map(\.reason) == [.notAllowed, .noRoute])
        #expect(try await monitor.path(to: #require(IPAddress(server)), meeting: .any).interface?.name == "wwan0")
        // A neighbour needs no route.
        let near = try await monitor.path(to: #require(IPAddress("192.0.2.9")), meeting: .notCellular)
        #expect(near.interface?.name == "wlan0")
    }

    @Test func `a link without carrier is no path even if the kernel has a route`() async throws {
        try uplinks.loseWiFi()
        try wait(.notCellular, for: "no way") { !$0.isReachable }
        let path = try await monitor.path(to: #require(IPAddress(LabUplinks.server)), meeting: .notCellular)
        #expect(path.ruledOut.contains { $0.interface.name == "wlan0" && $0.reason == .noCarrier })
        #expect(path.reasons.contains(.noCarrier))
        try uplinks.regainWiFi()
        try wait(.notCellular, for: "the way back") { $0.interface?.name == "wlan0" }
    }

    @Test func `an interface that does not exist, or is down, is no path`() async throws {
        let address = try #require(IPAddress(LabUplinks.server))
        let none = try await monitor.path(to: address, meeting: .interface("wlan9"))
        #expect(!none.isReachable)
        #expect(!none.reasons.isEmpty)
        try uplinks.home.rtnl.setDown("wlan0")
        try wait(.wifi, for: "the loss") { !$0.isReachable }
        let down = try await monitor.path(to: address, meeting: .interface("wlan0"))
        #expect(down.ruledOut.map(\.interface.name) == ["wwan0", "wlan0"])
        #expect(down.ruledOut.map(\.reason) == [.notAllowed, .interfaceDown])
    }

    @Test(arguments: ["127.0.0.1", "::1", "192.0.2.2", "198.51.100.2"])
    func `an address of this machine needs no interface`(address: String) throws {
        try uplinks.home.rtnl.setDown("wlan0")
        let address = try #require(IPAddress(address))
        guard address != IPAddress("192.0.2.2") else { return }
        try wait(to: "\(address)", .wifi, for: "itself") { $0.staysOnThisMachine }
    }

    @Test func `an interface that is declared expensive is skipped`() async throws {
        let far = try LabNamespace()
        try uplinks.home.rtnl.createVeth("dear0", .init(index: 12), peer: "far0", .init(index: 22, namespace: far))
        try uplinks.home.rtnl.setUp("dear0")
        try far.rtnl.setUp("far0")
        try uplinks.home.rtnl.addAddress("10.1.0.2/24", on: "dear0")
        try uplinks.home.rtnl.addRoute("default", via: "10.1.0.1", on: "dear0", metric: 5)
        try wait(.any, for: "the dear one") { $0.interface?.name == "dear0" && $0.isExpensive }
        try wait(.notCellular, for: "the dear one") { $0.interface?.name == "dear0" }
        let path = try await monitor.path(to: #require(IPAddress(LabUplinks.server)), meeting: .notExpensive)
        #expect(path.interface?.name == "wlan0")
    }

    @Test func `of several interfaces the more specific route decides, then the metric`() throws {
        let far = try LabNamespace()
        try uplinks.home.rtnl.createVeth("wlan1", .init(index: 9), peer: "far0", .init(index: 22, namespace: far))
        try uplinks.home.rtnl.setUp("wlan1")
        try far.rtnl.setUp("far0")
        try uplinks.home.rtnl.addAddress("10.1.0.2/24", on: "wlan1")
        try uplinks.home.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 10)
        try uplinks.home.rtnl.addRoute("default", via: "10.1.0.1", on: "wlan1", metric: 650)
        try wait(.wifi, for: "the lower metric") { $0.interface?.name == "wlan0" }
        try uplinks.home.rtnl.addRoute("203.0.113.0/24", via: "10.1.0.1", on: "wlan1", metric: 900)
        try uplinks.home.rtnl.addRoute("203.0.113.7/32", via: "198.51.100.1", on: "wwan0", metric: 900)
        try wait(.wifi, for: "the more specific route") { $0.interface?.name == "wlan1" }
    }

    @Test func `a rule on the source also applies to a bound socket`() throws {
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 10
        rule.source = .init(try #require(IPAddress("192.0.2.2")), length: 32)
        rule.table = .init(rawValue: 100)
        var route = RouteMessage(destination: .all(.ipv4), table: .init(rawValue: 100))
        route.type = .prohibit
        try uplinks.home.rtnl.route(.add, route)
        try uplinks.home.rtnl.addRule(rule)
        try wait(.wifi, for: "the refusal") { $0.ruledOut.map(\.reason) == [.sourceRule] }
    }

    @Test func `a bound socket also finds an IPv6 route with a source prefix`() throws {
        try uplinks.home.rtnl.deleteRoute("default", via: "2001:db8:1::1", on: "wlan0", metric: 600)
        var route = RouteMessage(destination: .all(.ipv6))
        route.source = .init(try #require(IPAddress("2001:db8:1::")), length: 64)
        route.metric = 5
        route.nextHops = [.init(interface: 10, gateway: IPAddress("2001:db8:1::1"))]
        try uplinks.home.rtnl.route(.add, route)
        try wait(to: LabUplinks.serverIPv6, .wifi, for: "the way") { $0.isReachable && $0.interface?.name == "wlan0" }
    }
}
