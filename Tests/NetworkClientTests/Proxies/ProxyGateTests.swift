import HTTPLab
import NetworkClientCore
import NetworkLab
import Reachability
import ReachabilityCore
import RequestGate
import Testing

@testable import NetworkClient

/// The gate evaluates the path to the proxy: a machine with one link, behind which a proxy is.
@Suite(.timeLimit(.minutes(5)))
struct ProxyGateTests {
    private let lab: UplinkLab
    private let monitor: ReachabilityMonitor
    /// An address that has no route once the default route is gone.
    private let origin = "http://203.0.113.9/x"

    init() throws {
        let lab = try UplinkLab()
        self.lab = lab
        monitor = try lab.machine.run { try ReachabilityMonitor(configuration: .init()) }
    }

    private func run(_ body: (HTTPSession, ScriptedServer) async throws -> Void) async throws {
        let proxy = try ScriptedServer(
            on: .ipv4(192, 0, 2, 1),
            in: lab.world,
            always: [.forever([.readRequest, .response("by proxy")])]
        )
        try await monitor.wait(for: .reachable, timeout: .seconds(60))
        try await LabLoops.run(in: lab.machine) { loops in
            let server = try ProxyServer("http://192.0.2.1:\(proxy.port)")
            var configuration = HTTPConfiguration(timeouts: .lasting, proxy: .all(server))
            configuration.gate = .waitsForConnectivity(nil)
            configuration.connectivity = monitor
            let session = try HTTPSession(baseURL: nil, configuration, loop: loops.loop, ScriptedLookup().resolver())
            try await body(session, proxy)
        }
    }

    @Test func `with a path to the proxy but none to the origin, the request starts, and the origin is not looked up`()
        async throws
    {
        try await run { session, proxy in
            try lab.machine.rtnl.deleteRoute("default", via: UplinkLab.worldAddress, on: UplinkLab.interface)
            try await monitor.wait(for: .notReachable, timeout: .seconds(60))
            for url in [origin, "http://missing.example/x"] {
                #expect(try await session.get(url).string() == "by proxy")
            }
        }
    }

    @Test func `without a path to the proxy, the request waits until the path is restored`() async throws {
        try await run { session, proxy in
            try lab.begin(.linkDown)
            try await monitor.wait(for: .notReachable, timeout: .seconds(60))
            let request = session.get(origin, options: .init(startsAtOnce: false))
            let events = request.events
            request.resume()
            var words = ""
            // What it waits for may be known only once the path to the proxy has been looked up.
            for await case .waitingForConnectivity(let text) in events where !text.hasPrefix("the first state") {
                words = text
                break
            }
            #expect(words.hasPrefix("a path to 192.0.2.1 ("))
            #expect(words.hasSuffix("), the proxy for 203.0.113.9:80"))
            #expect(proxy.connections.isEmpty)
            try lab.end(.linkDown)
            #expect(try await request.string() == "by proxy")
        }
    }

    @Test func `a timeout while waiting names the proxy`() async throws {
        try await run { session, _ in
            try lab.begin(.linkDown)
            try await monitor.wait(for: .notReachable, timeout: .seconds(60))
            let options = RequestOptions(gate: .waitsForConnectivity(.milliseconds(50)))
            let error = await #expect(throws: HTTPError.self) {
                try await session.get(origin, options: options).response()
            }
            #expect(error?.code == .connectivityTimedOut)
            #expect(error?.reason.contains("no path to 203.0.113.9:80 by the proxy http://192.0.2.1:") == true)
        }
    }

    @Test func `a requirement binds the connection to the proxy`() async throws {
        try await run { (session, proxy) async throws in
            let options = RequestOptions(requirement: .interface(UplinkLab.interface))
            #expect(try await session.get(origin, options: options).string() == "by proxy")
            let none = RequestOptions(gate: .waitsForConnectivity(.milliseconds(50)), requirement: .interface("other0"))
            let error = await #expect(throws: HTTPError.self) {
                try await session.get(origin, options: none).response()
            }
            #expect(error?.code == .connectivityTimedOut)
            #expect(proxy.connections.count == 1)
        }
    }
}
