import HTTPLab
import NIOCore
import NetworkLab
import Reachability
import ReachabilityCore
import RequestGate
import Testing

@testable import NetworkClient

/// The keeper over the real kernel: a machine with WiFi and a modem.
@Suite(.timeLimit(.minutes(5))) struct GateKernelTests {
    private let uplinks: LabUplinks
    private let monitor: ReachabilityMonitor

    init() throws {
        let uplinks = try LabUplinks()
        var configuration = MonitorConfiguration()
        configuration.kindRules = LabUplinks.kinds
        self.uplinks = uplinks
        monitor = try uplinks.home.run { [configuration] in try ReachabilityMonitor(configuration: configuration) }
    }

    private func run(_ body: (KeptGate) async throws -> Void) async throws {
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        // It is reachable before everything has been read; until then a path that is missing is one that is not known.
        try #require(try await monitor.view(within: .seconds(60)).isSettled)
        try await KeptGate.run(monitor, in: uplinks.home, body)
    }

    @Test(arguments: [LabUplinks.server, LabUplinks.serverIPv6])
    func `a request that must not use the modem waits while WiFi is down`(server: String) async throws {
        try await run { gate in
            let key = GateKey(server, .notCellular)
            #expect(await gate.hold(key).binding == .interfaceIndex(10))
            for _ in 0..<3 {
                try uplinks.loseWiFi()
                try await gate.wait(key, for: "the loss") { $0.missing?.obstacle == .path }
                try uplinks.regainWiFi()
                try await gate.wait(key, for: "the return") { $0.binding == .interfaceIndex(10) }
            }
            let wait = try #require(gate.told.value.first?.verdict.missing)
            #expect("\(wait)".contains("wlan0: path.noCarrier"))
        }
    }

    @Test func `the modem is preferred, and WiFi comes up in addition`() async throws {
        try uplinks.home.rtnl.setDown("wlan0")
        try await monitor.wait(for: .cellular, timeout: .seconds(120))
        try await run { gate in
            let key = GateKey(LabUplinks.server, .wifi)
            let wait = try #require(await gate.hold(key).missing)
            #expect("\(wait)" == "a path to 203.0.113.7 by WiFi (wwan0: path.notAllowed, wlan0: path.interfaceDown)")
            try uplinks.home.rtnl.setUp("wlan0")
            try uplinks.home.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 900)
            try await gate.wait(key, for: "WiFi") { $0.binding == .interfaceIndex(10) }
            #expect(monitor.status == .cellular)
        }
    }

    @Test func `offline, requests to hosts on the link start, and a specific route opens a closed gate`() async throws {
        try await run { gate in
            for name in ["wlan0", "wwan0"] {
                let (router, metric) = name == "wlan0" ? ("192.0.2.1", UInt32(600)) : ("198.51.100.1", 700)
                try uplinks.home.rtnl.deleteRoute("default", via: router, on: name, metric: metric)
                let routerIPv6 = name == "wlan0" ? "2001:db8:1::1" : "2001:db8:2::1"
                try uplinks.home.rtnl.deleteRoute("default", via: routerIPv6, on: name, metric: metric)
            }
            try await monitor.wait(for: .notReachable, timeout: .seconds(120))
            #expect(await gate.verdict(.init("192.0.2.1")).addresses == ["192.0.2.1:80"])
            #expect(await gate.verdict(.init("localhost")).missing?.obstacle == .name)
            let key = GateKey(LabUplinks.server)
            let wait = try #require(await gate.hold(key).missing)
            #expect("\(wait)" == "a path to 203.0.113.7 (path.noRoute)")
            try uplinks.home.rtnl.addRoute("203.0.113.0/24", via: "192.0.2.1", on: "wlan0")
            try await gate.wait(key, for: "the specific route") { $0.mayGo }
            #expect(monitor.status == .notReachable)
            try uplinks.home.rtnl.deleteRoute("203.0.113.0/24", via: "192.0.2.1", on: "wlan0")
            try await gate.wait(key, for: "its end") { !$0.mayGo }
        }
    }

    @Test func `an unreachable route to one host alone is found when an attempt has failed`() async throws {
        try await run { gate in
            var route = RouteMessage(destination: .init(try #require(IPAddress(LabUplinks.server)), length: 32))
            route.type = .unreachable
            try uplinks.home.rtnl.route(.add, route)
            let key = GateKey(LabUplinks.server)
            #expect(await gate.hold(key).mayGo)
            #expect(await gate.on { $0.refresh(key) }.missing?.reasons == [.unreachable])
            try uplinks.home.rtnl.route(.delete, route)
            try await gate.wait(key, for: "the end of the route") { $0.mayGo }
        }
    }

    @Test func `after a storm of changes, no request is left waiting`() async throws {
        try await run { gate in
            let keys = [PathRequirement.any, .notCellular, .interface("wwan0")].map { GateKey(LabUplinks.server, $0) }
            for key in keys { await gate.hold(key) }
            var generator = SeededGenerator(seed: 7)
            for _ in 0..<150 { try? shake(&generator) }
            try? restore()
            for key in keys { try await gate.settle(key, for: "the end of the storm") { $0.mayGo } }
            for name in ["wlan0", "wwan0"] { try uplinks.home.rtnl.setDown(name) }
            for key in keys { try await gate.settle(key, for: "the loss") { !$0.mayGo } }
        }
    }

    /// Makes one change; some fail because there is nothing to change.
    private func shake(_ generator: inout SeededGenerator) throws {
        let rtnl = uplinks.home.rtnl
        switch Int.random(in: 0..<9, using: &generator) {
        case 0: try uplinks.loseWiFi()
        case 1: try uplinks.regainWiFi()
        case 2: try rtnl.setDown("wwan0")
        case 3: try rtnl.setUp("wwan0")
        case 4: try rtnl.setDown("wlan0")
        case 5: try rtnl.setUp("wlan0")
        case 6: try rtnl.deleteAddress("192.0.2.2/24", on: "wlan0")
        case 7: try rtnl.addRoute("203.0.113.0/24", via: "198.51.100.1", on: "wwan0")
        default: try restore()
        }
    }

    /// Restores the initial state; additions that already exist fail.
    private func restore() throws {
        try uplinks.regainWiFi()
        try uplinks.home.rtnl.setUp("wlan0", "wwan0")
        try? uplinks.home.rtnl.addAddress("192.0.2.2/24", on: "wlan0")
        try? uplinks.addWiFiRoutes()
        try? uplinks.addCellularRoutes()
    }
}
