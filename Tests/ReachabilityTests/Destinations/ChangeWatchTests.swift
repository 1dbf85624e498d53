import NetworkLab
import Testing

@testable import Reachability

/// A watch of all changes reports each change, and not before the monitor knows of it.
@Suite(.timeLimit(.minutes(5))) struct ChangeWatchTests {
    private let uplinks: LabUplinks
    private let monitor: ReachabilityMonitor

    init() throws {
        let uplinks = try LabUplinks()
        var configuration = MonitorConfiguration()
        configuration.kindRules = LabUplinks.kinds
        self.uplinks = uplinks
        monitor = try uplinks.home.run { [configuration] in try ReachabilityMonitor(configuration: configuration) }
    }

    /// A change, the command that makes it, and the interfaces by which the server is reached after it: by a socket
    /// without a requirement, by one that needs WiFi, and by one that needs `wwan0`.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let ways: [String]
        let make: @Sendable (LabUplinks) throws -> Void

        init(_ name: String, _ ways: [String], _ make: @escaping @Sendable (LabUplinks) throws -> Void) {
            testDescription = name
            self.ways = ways
            self.make = make
        }

        static let all = [
            Self("a carrier lost, whose route IPv4 prefers all the same", ["none", "none", "wwan0"]) {
                try $0.loseWiFi()
            },
            Self("a link set down", ["wwan0", "none", "wwan0"]) { try $0.home.rtnl.setDown("wlan0") },
            Self("an address removed", ["wwan0", "none", "wwan0"]) {
                try $0.home.rtnl.deleteAddress("192.0.2.2/24", on: "wlan0")
            },
            Self("another way than the preferred one gone", ["wlan0", "wlan0", "none"]) {
                try $0.home.rtnl.setDown("wwan0")
            },
            Self("a specific route", ["wwan0", "wlan0", "wwan0"]) {
                try $0.home.rtnl.addRoute("203.0.113.0/24", via: "198.51.100.1", on: "wwan0")
            },
            Self("a rule", ["none", "none", "none"]) {
                var rule = RuleMessage(family: .ipv4)
                rule.priority = 10
                rule.action = .unreachable
                try $0.home.rtnl.addRule(rule)
            },
            Self("a link renamed, so that it is of another kind", ["wwan9", "none", "wwan0"]) {
                try $0.home.rtnl.setDown("wlan0")
                try $0.home.rtnl.rename("wlan0", to: "wwan9")
                try $0.home.rtnl.setUp("wwan9")
                try $0.home.rtnl.addRoute("default", via: "192.0.2.1", on: "wwan9", metric: 600)
            },
        ]
    }

    @Test(arguments: Change.all)
    func `each change is followed by a tick after which the new result is visible`(change: Change) throws {
        let address = try #require(IPAddress(LabUplinks.server))
        let results = LabInbox<[String?]>()
        let watch = monitor.subscribeToChanges(affecting: [address]) { [monitor] in
            let paths = [PathRequirement.any, .wifi, .interface("wwan0")].map {
                try? monitor.lookup(address, meeting: $0)
            }
            results.put(paths.map { $0.map { $0.isReachable ? $0.interface?.name ?? "" : "none" } })
        }
        defer { watch.cancel() }
        try results.wait(for: "the first tick") { $0.last == ["wlan0", "wlan0", "wwan0"] }
        try change.make(uplinks)
        try results.wait(for: "\(change.ways)") { $0.last == change.ways }
    }

    /// The view, once the model agrees with the kernel.
    private func settledView() async throws -> MonitorView {
        try await monitor.view(within: .seconds(120))
    }

    @Test func `a watch ticks once it has begun, and not after its end`() async throws {
        let ticks = LabInbox<Int>()
        let watch = monitor.subscribeToChanges(affecting: []) { ticks.put(0) }
        try ticks.wait(for: "the first") { !$0.isEmpty }
        watch.cancel()
        _ = try await settledView()
        let count = ticks.all.count
        try uplinks.home.rtnl.setDown("wlan0")
        let later = LabInbox<Bool>()
        let other = monitor.subscribeToChanges(affecting: []) { [monitor] in
            later.put(monitor.path.interface?.name == "wwan0")
        }
        try later.wait(for: "another's tick") { $0.last == true }
        #expect(ticks.all.count == count)
        withExtendedLifetime(other) {}
    }

    @Test func `a watch reports that the monitor was stopped or started again`() throws {
        let seen = LabInbox<ReachabilityStatus>()
        let watch = monitor.subscribeToChanges(affecting: []) { [monitor] in seen.put(monitor.status) }
        try seen.wait(for: "the state") { $0.last == .wifi }
        monitor.stop()
        try seen.wait(for: "the end") { $0.last == .unknown }
        try uplinks.home.run { try monitor.start() }
        try seen.wait(for: "the state again") { $0.last == .wifi }
        withExtendedLifetime(watch) {}
    }
}
