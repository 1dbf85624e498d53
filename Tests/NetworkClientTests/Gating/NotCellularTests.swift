import HTTPLab
import NetworkLab
import Reachability
import ReachabilityCore
import Testing

@testable import NetworkClient

/// A session that must not use the modem, on a machine with both, while WiFi goes down and up.
@Suite(.timeLimit(.minutes(5))) struct NotCellularTests {
    private let uplinks: LabUplinks
    private let monitor: ReachabilityMonitor
    private let wifi: ScriptedServer
    private let cellular: ScriptedServer

    init() throws {
        let uplinks = try LabUplinks()
        try Self.silenceModem(of: uplinks)
        var configuration = MonitorConfiguration()
        configuration.kindRules = LabUplinks.kinds
        self.uplinks = uplinks
        monitor = try uplinks.home.run { [configuration] in try ReachabilityMonitor(configuration: configuration) }
        wifi = try Self.server("wifi", in: uplinks.wifi)
        cellular = try Self.server("cellular", in: uplinks.cellular)
    }

    /// Neighbour discovery is not part of any request.
    private static func silenceModem(of uplinks: LabUplinks) throws {
        let (near, far): ([UInt8], [UInt8]) = ([2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1])
        try uplinks.home.setSysctl("net.ipv6.conf.wwan0.disable_ipv6", to: 1)
        try uplinks.home.rtnl.setHardwareAddress("wwan0", to: near)
        try uplinks.cellular.rtnl.setHardwareAddress("tower0", to: far)
        try uplinks.home.rtnl.setNeighbour("198.51.100.1", on: "wwan0", state: .permanent, hardwareAddress: far)
        try uplinks.cellular.rtnl.setNeighbour("198.51.100.2", on: "tower0", state: .permanent, hardwareAddress: near)
    }

    private static func server(_ name: String, in lab: LabNamespace) throws -> ScriptedServer {
        try ScriptedServer(on: .ipv4(203, 0, 113, 7), in: lab, port: 8080) { _ in
            [.forever([.readRequest, .response(name)])]
        }
    }

    private func session(_ loops: LabLoops, _ requirement: PathRequirement) throws -> HTTPSession {
        var configuration = HTTPConfiguration(
            gate: .waitsForConnectivity(nil),
            requirement: requirement,
            retry: .init(maximumAttempts: 50, baseDelay: .milliseconds(20)),
            pathLoss: .waitInFlight(.seconds(1)),
            connectivity: monitor
        )
        configuration.timeouts = .lasting
        return try HTTPSession(
            baseURL: "http://\(LabUplinks.server):8080/",
            configuration,
            loop: loops.loop,
            NameResolver()
        )
    }

    @Test func `no packet leaves through the modem, and every request gets a response over WiFi`() async throws {
        try await monitor.wait(for: .reachable, timeout: .seconds(60))
        try await LabLoops.run(in: uplinks.home) { loops in
            let session = try session(loops, .notCellular)
            #expect(try await session.get("").string() == "wifi")
            let before = try uplinks.home.sentPackets("wwan0")
            for round in 0..<10 {
                let running = (0..<4).map { session.get("running/\(round)/\($0)") }
                // When the link goes down, its routes are removed: the modem's route is then the default.
                if round.isMultiple(of: 2) { try uplinks.home.rtnl.setDown("wlan0") } else { try uplinks.loseWiFi() }
                try await wait(for: false)
                let waiting = (0..<4).map { session.get("waiting/\(round)/\($0)") }
                try uplinks.home.rtnl.setUp("wlan0")
                try uplinks.regainWiFi()
                try? uplinks.addWiFiRoutes()
                for request in running + waiting { #expect(try await request.string() == "wifi") }
            }
            #expect(try uplinks.home.sentPackets("wwan0") == before)
            #expect(cellular.connections.isEmpty)
            // The counter would detect the packets.
            let free = try self.session(loops, .interface("wwan0"))
            #expect(try await free.get("").string() == "cellular")
            #expect(try uplinks.home.sentPackets("wwan0") > before)
        }
    }

    /// Waits until there is a path over WiFi, or none.
    private func wait(for isThere: Bool) async throws {
        let ways = Observed<Bool?>(nil)
        let server = try #require(IPAddress(LabUplinks.server))
        let watch = monitor.subscribeToChanges(affecting: [server]) { [monitor] in
            let path = try? monitor.lookup(server, meeting: .notCellular)
            ways.update { $0 = path?.isReachable }
        }
        defer { watch.cancel() }
        try await ways.wait(for: "WiFi") { $0 == isThere }
    }
}
