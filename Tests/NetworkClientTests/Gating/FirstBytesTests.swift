import Glibc
import HTTPLab
import Locking
import NetworkClient
import NetworkLab
import Reachability
import ReachabilityCore
import Testing

@testable import NetworkClient

/// What a request does not wait for before its first bytes are sent.
@Suite(.timeLimit(.minutes(5))) struct FirstBytesTests {
    /// A network whose lookups return only after a server has received something.
    private final class PatientLookups: Connectivity {
        private let monitor: ReachabilityMonitor
        private let hasReceived: @Sendable () -> Bool
        /// For each lookup, whether the server had received something by the end of it.
        let lookups = Lock<[Bool]>([])

        init(_ monitor: ReachabilityMonitor, _ hasReceived: @escaping @Sendable () -> Bool) {
            self.monitor = monitor
            self.hasReceived = hasReceived
        }

        var status: ReachabilityStatus { monitor.status }
        var path: NetworkPath { monitor.path }

        func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
            for _ in 0..<60_000 where !hasReceived() { usleep(1_000) }
            let received = hasReceived()
            lookups.withLock { $0.append(received) }
            return try monitor.path(to: destination, requiring: requirement)
        }

        func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
            monitor.watch(destinations, body)
        }
    }

    @Test func `a request on a new connection is sent before the connection's path is looked up`() async throws {
        let uplinks = try LabUplinks()
        var rules = MonitorConfiguration()
        rules.kindRules = LabUplinks.kinds
        let monitor = try uplinks.home.run { [rules] in try ReachabilityMonitor(configuration: rules) }
        try await monitor.wait(for: .reachable, timeout: .seconds(60))
        let server = try ScriptedServer(on: .ipv4(203, 0, 113, 7), in: uplinks.wifi, port: 8080) { _ in
            [.forever([.readRequest, .response("here")])]
        }
        let network = PatientLookups(monitor) { !server.received.isEmpty }
        try await LabLoops.run(in: uplinks.home) { loops in
            var configuration = HTTPConfiguration(gate: .waitsForConnectivity(nil), connectivity: network)
            configuration.timeouts = .lasting
            let session = try HTTPSession(
                baseURL: "http://\(LabUplinks.server):8080/",
                configuration,
                loop: loops.loop,
                NameResolver()
            )
            #expect(try await session.get("").string() == "here")
        }
        let lookups = network.lookups.withLock { $0 }
        #expect(!lookups.isEmpty)
        #expect(lookups.allSatisfy { $0 })
    }
}
