import HTTPLab
import NetworkLab
import Reachability
import Testing

@testable import NetworkClient

/// WebSockets whose path goes away and comes back.
@Suite(.timeLimit(.minutes(10)))
struct WebSocketPathTests {
    @Test func `the handshake waits for connectivity and the requirement of its path`() async throws {
        let lab = try WebSocketLab { _, _ in }
        let network = MadeUpNetwork(.notReachable)
        let counter = WaitCounter()
        let session = try HTTPSession(
            baseURL: "ws://127.0.0.1:\(lab.server.port)/",
            configuration: .init(
                timeouts: .lasting,
                eventMonitors: [counter],
                gate: .waitsForConnectivity(nil),
                connectivity: network
            )
        )
        let opening = Task { try await session.webSocket("") }
        try await counter.waits.wait(for: "the wait") { $0 > 0 }
        #expect(lab.server.connections.isEmpty)
        network.become(.wifi)
        await (try await opening.value).close()
        #expect(lab.server.connections.count == 1)
    }

    @Test(arguments: Outage.allCases)
    func `a WebSocket ends with its path, and another one opens when the link is back`(outage: Outage) async throws {
        let lab = try UplinkLab()
        let server = try ScriptedServer(
            on: .ipv4(0, 0, 0, 0),
            in: lab.world,
            always: [
                .custom { connection in
                    try connection.acceptWebSocket()
                    while true { try connection.send(.init(1, try connection.readFrame().payload)) }
                }
            ]
        )
        var configuration = MonitorConfiguration()
        configuration.namespace = .path(lab.machine.path)
        let monitor = try ReachabilityMonitor(configuration: configuration)
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        try await LabLoops.run(in: lab.machine) { loops in
            let counter = WaitCounter()
            var configuration = HTTPConfiguration(
                timeouts: .lasting,
                gate: .waitsForConnectivity(nil),
                connectivity: monitor
            )
            configuration.eventMonitors = [counter]
            configuration.pathLoss = .waitInFlight(.milliseconds(10))
            let session = try HTTPSession(
                baseURL: "ws://\(UplinkLab.worldAddress):\(server.port)/",
                configuration,
                loop: loops.loop,
                NameResolver()
            )
            for _ in 0..<3 {
                let socket = try await session.webSocket("")
                try await socket.send("there?")
                #expect(try await socket.receive() == .text("there?"))
                let waits = counter.waits.value
                try lab.begin(outage)
                let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
                #expect(error?.code == .pathLost)
                let next = Task { try await session.webSocket("") }
                try await counter.waits.wait(for: "the wait") { $0 > waits }
                try lab.end(outage)
                await (try await next.value).close()
            }
            session.invalidate(.cancellingRequests)
        }
        try await server.stop()
    }
}
