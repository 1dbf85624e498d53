import FoundationEssentials
import HTTPLab
import NetworkLab
import Reachability
import Testing

@testable import NetworkClient

/// Event streams whose path goes away and comes back.
@Suite(.timeLimit(.minutes(10)))
struct EventStreamPathTests {
    private static let outages = 20
    /// A day: a sequence that waited for the retry time would not end within the test.
    private static let retry = "retry:86400000\n"

    @Test func `without a path a reconnection waits for it and not for the retry time`() async throws {
        let latches = try (0..<Self.outages).map { _ in try ServerLatch() }
        let server = try ScriptedServer { number in
            guard number < latches.count else { return [.readRequest, EventServer.noContent] }
            return [
                .respond {
                    [.send(EventServer.head + Self.retry), .sendBytes(EventServer.events(after: $0, count: 1))]
                },
                .await(latches[number]),
            ]
        }
        let network = MadeUpNetwork(.wifi)
        let counter = WaitCounter()
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [counter], connectivity: network)
        )
        let received = Observed<[String]>([])
        let events = session.events("")
        let task = Task { for try await event in events { received.update { $0.append(event.id) } } }
        for (number, latch) in latches.enumerated() {
            try await received.wait(for: "event \(number + 1)") { $0.count == number + 1 }
            let waits = counter.waits.value
            // The path may be lost before the connection and after it.
            if number.isMultiple(of: 2) { network.become(.notReachable) }
            latch.open()
            if !number.isMultiple(of: 2) {
                try await server.waitForEnds(number + 1)
                network.become(.notReachable)
            }
            try await counter.waits.wait(for: "wait \(number + 1)") { $0 > waits }
            #expect(server.connections.count == number + 1)
            network.become(number.isMultiple(of: 3) ? .cellular : .wifi)
        }
        try await task.value
        #expect(received.value == (1...Self.outages).map(String.init))
    }

    @Test(arguments: [false, true])
    func `an attempt that fails while the network changes is repeated immediately`(isInDelay: Bool) async throws {
        let network = MadeUpNetwork(.wifi)
        let server = try ScriptedServer { number in
            switch number {
            case 0: EventServer.stream(Self.retry + "id:1\ndata:1\n\n")
            case 1: [.readRequest, .custom { _ in if !isInDelay { network.tell() } }, .reset]
            default: [.readRequest, EventServer.noContent]
            }
        }
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, connectivity: network)
        )
        var events = session.events("")
        events.pause = { [before = events.pause] pause in
            // The retry time of the first connection is skipped; that of the failed attempt is a day.
            guard pause.change != nil else { return }
            async let ended: Void = before(pause)
            if isInDelay { network.tell() }
            await ended
        }
        for try await event in events { #expect(event.id == "1") }
        #expect(server.connections.count == 3)
    }

    @Test(arguments: Outage.allCases)
    func `a stream continues when its link is back`(outage: Outage) async throws {
        try await Self.run { lab, server, session, counter in
            let received = Observed<[String]>([])
            let events = session.events("")
            let task = Task { for try await event in events { received.update { $0.append(event.id) } } }
            var returns: [ContinuousClock.Instant] = []
            var durations: [Duration] = []
            for number in 1...Self.outages {
                try await received.wait(for: "event \(number)") { $0.count == number }
                if let last = returns.last { durations.append(.now - last) }
                let waits = counter.waits.value
                try await waitForAcknowledgements(in: lab.world)
                try await waitForResets(in: lab.machine)
                let sent = try segmentsOfClient(in: lab.machine)
                try lab.begin(outage)
                try await counter.waits.wait(for: "wait \(number)") { $0 > waits }
                // A search for the neighbour would be repeated after a second, for which the next connection would wait.
                if outage == .carrierLost { #expect(try segmentsOfClient(in: lab.machine) == sent) }
                try lab.end(outage)
                returns.append(.now)
            }
            try await received.wait(for: "the last event") { $0.count == Self.outages + 1 }
            if let last = returns.last { durations.append(.now - last) }
            durations.sort()
            print("after \(outage), an event: p50 \(durations[durations.count / 2]), max \(durations.last ?? .zero)")
            task.cancel()
            _ = try? await task.value
            #expect(received.value == (1...Self.outages + 1).map(String.init))
        }
    }

    @Test func `the path of a connection is followed although it was opened for a request that does not wait`()
        async throws
    {
        try await Self.run { lab, server, session, counter in
            #expect(try await session.get("plain").string() == "plain")
            let received = Observed<[String]>([])
            let events = session.events("")
            let task = Task { for try await event in events { received.update { $0.append(event.id) } } }
            try await received.wait(for: "an event") { $0.count == 1 }
            #expect(server.connections.count == 1)
            try lab.begin(.linkDown)
            try await counter.waits.wait(for: "the loss") { $0 > 0 }
            try lab.end(.linkDown)
            try await received.wait(for: "an event of the next connection") { $0.count == 2 }
            task.cancel()
            _ = try? await task.value
        }
    }

    /// Waits until all that a namespace has sent is acknowledged.
    ///
    /// The kernel sends an acknowledgement up to 200 ms later, and would look for the neighbour then.
    private func waitForAcknowledgements(in namespace: LabNamespace) async throws {
        while try establishedConnections(in: namespace).contains(where: { !$0[4].hasPrefix("00000000:") }) {
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Waits until a client has reset the connections that it lost, which it does when it is told of the return of a
    /// path: it may have the next connection by then.
    private func waitForResets(in namespace: LabNamespace) async throws {
        while try establishedConnections(in: namespace).count > 1 { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// The fields of the established connections, as in proc_pid_net(5).
    private func establishedConnections(in namespace: LabNamespace) throws -> [[Substring]] {
        let text = try namespace.run { try String(contentsOfFile: "/proc/thread-self/net/tcp", encoding: .utf8) }
        return text.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }.filter { $0[3] == "01" }
    }

    /// How many connections a client began and reset (tcpActiveOpens in RFC 4022, tcpOutRsts), as in proc_pid_net(5).
    private func segmentsOfClient(in namespace: LabNamespace) throws -> [Substring?] {
        let text = try namespace.run { try String(contentsOfFile: "/proc/thread-self/net/snmp", encoding: .utf8) }
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("Tcp: ") }.map { $0.split(separator: " ") }
        let values = Dictionary(zip(try #require(lines.first), try #require(lines.last))) { _, last in last }
        return [values["ActiveOpens"], values["OutRsts"]]
    }

    /// Runs a test with a server behind a link: it sends one event on each connection.
    private static func run(
        _ body: (UplinkLab, ScriptedServer, HTTPSession, WaitCounter) async throws -> Void
    ) async throws {
        let lab = try UplinkLab()
        let server = try ScriptedServer(
            on: .ipv4(0, 0, 0, 0),
            in: lab.world,
            always: [
                .forever([
                    .respond { request in
                        if request.head.hasPrefix("GET /plain ") { return [.response("plain")] }
                        return [
                            // An attempt may fail while the link comes back.
                            .send(EventServer.head + "retry:1\n"),
                            .sendBytes(EventServer.events(after: request, count: 1)),
                            .readToEnd,
                        ]
                    }
                ])
            ]
        )
        var configuration = MonitorConfiguration()
        configuration.namespace = .path(lab.machine.path)
        let monitor = try ReachabilityMonitor(configuration: configuration)
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        try await LabLoops.run(in: lab.machine) { loops in
            let counter = WaitCounter()
            var configuration = HTTPConfiguration(timeouts: .lasting, connectivity: monitor)
            configuration.eventMonitors = [counter]
            configuration.pathLoss = .waitInFlight(.milliseconds(10))
            let session = try HTTPSession(
                baseURL: "http://\(UplinkLab.worldAddress):\(server.port)/",
                configuration,
                loop: loops.loop,
                NameResolver()
            )
            try await body(lab, server, session, counter)
            session.invalidate(.cancellingRequests)
        }
        try await server.stop()
    }
}
