import EventCore
import EventJournal
import EventServer
import EventService
import HTTPLab
import NetwatchCore
import NetworkClient
import NetworkClientEventService
import NetworkClientTesting
import NetworkLab
import ReachabilityCore
import Testing
import ValidationCore

@testable import netwatchd

@Suite(.timeLimit(.minutes(5))) struct NetwatchEventsTests {
    private static let wlan0 = NetworkInterface(index: 3, name: "wlan0", kind: .wifi, kindSource: .plain)
    private static let wwan0 = NetworkInterface(index: 4, name: "wwan0", kind: .cellular, kindSource: .plain)

    private func change(_ sequence: UInt64, _ interface: NetworkInterface?) throws -> ReachabilityChange {
        let status: ReachabilityStatus = interface.map { $0.kind == .cellular ? .cellular : .wifi } ?? .notReachable
        let source = try #require(IPAddress("192.0.2.7"))
        let family = interface.map { interface in
            FamilyPath(
                status: status,
                interface: interface,
                carriers: [interface],
                gateway: IPAddress("192.0.2.1"),
                source: source,
                metric: 600,
                table: .main,
                isExpensive: status == .cellular
            )
        }
        let reasons: [ReachabilityReason] = interface == nil ? [.carrierLost, .routeRemoved] : [.routeAdded]
        return ReachabilityChange(
            event: sequence == 1 ? .state : .change,
            status: status,
            previous: sequence == 1 ? nil : .wifi,
            path: .init(
                status: status,
                interface: interface,
                carriers: interface.map { [$0] } ?? [],
                ipv4: family,
                reasons: interface == nil ? reasons : [],
                isExpensive: status == .cellular
            ),
            reasons: reasons,
            sequence: sequence
        )
    }

    private func publish(_ change: ReachabilityChange, on lab: ServerLab) {
        lab.server.publish(EventPublisher.event(of: change, at: .init(seconds: 1_700_000_000, nanoseconds: 0)))
    }

    @Test func `an iteration begins with the state and continues with every change, as it was published`() async throws
    {
        let lab = try ServerLab()
        publish(try change(1, Self.wlan0), on: lab)
        let events = NetwatchEvents(socket: lab.path)
        var iterator = events.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first.id.description == ServerLab.id(1) && first.gap == nil)
        #expect(first.change.path == (try change(1, Self.wlan0)).path)
        for (sequence, interface) in [(2, nil), (3, Self.wwan0)] as [(UInt64, NetworkInterface?)] {
            publish(try change(sequence, interface), on: lab)
            let event = try #require(await iterator.next())
            #expect(event.change == (try change(sequence, interface)) && event.gap == nil)
        }
        #expect(events.status == .cellular && events.path.isExpensive && events.connectionFailure == nil)
        var second = events.makeAsyncIterator()
        #expect(await second.next()?.id == events.latestEvent?.id)
    }

    @Test func `a change of the verdict is a change without reasons that has the verdict`() async throws {
        let lab = try ServerLab()
        publish(try change(1, Self.wlan0), on: lab)
        let events = NetwatchEvents(socket: lab.path)
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next()?.validation == nil)
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 5_000)
        let portal = ValidationVerdict.portal(.init(loginURL: "https://h.example/"))
        let summary = ValidationSummary(verdict: portal, since: time, checkedAt: time)
        var verdict = try change(2, Self.wlan0)
        (verdict.reasons, verdict.previous) = ([], .wifi)
        lab.server.publish(EventPublisher.event(of: verdict, at: time, summary, isVerdict: true))
        let event = try #require(await iterator.next())
        #expect(event.id.description == ServerLab.id(2) && event.change == verdict)
        let since = Duration.seconds(1_700_000_000) + .microseconds(5)
        #expect(event.validation == .init(verdict: portal, since: since, checkedAt: since))
        var late = events.makeAsyncIterator()
        #expect(await late.next()?.validation == event.validation)
    }

    @Test func `the service may start later, and a restart with a journal loses nothing`() async throws {
        let folder = try LabFolder()
        let path = folder.path + "/events.sock"
        let events = NetwatchEvents(socket: path)
        var iterator = events.makeAsyncIterator()
        #expect(events.status == .unknown && events.path.reasons == [.reading])
        var ids: [String] = []
        for run in UInt64(1)...3 {
            let journal = EventJournal(JournalOptions(folder: folder.path + "/journal", limits: []).configuration(run))
            let lab = try ServerLab(run: run, path: path, store: journal)
            try lab.server.waitForJournal(within: .seconds(60))
            for sequence in UInt64(1)...3 { publish(try change(sequence, Self.wlan0), on: lab) }
            while ids.count < Int(run) * 3 {
                let event = try #require(await iterator.next())
                #expect(event.gap == nil)
                ids.append(event.id.description)
                // The first connection begins with the state, of whichever event that is.
                if run == 1 { ids = (1...event.change.sequence).map { EventID(run: 1, sequence: $0).description } }
            }
            try lab.server.stop()
            journal.close()
        }
        let all = (UInt64(1)...3).flatMap { run in
            (UInt64(1)...3).map { EventID(run: run, sequence: $0).description }
        }
        #expect(ids == all)
        while events.status != .unknown { try await Task.sleep(for: .milliseconds(1)) }
        #expect(events.path.reasons == [.notStarted] && events.connectionFailure != nil)
    }

    @Test func `a gap is reported by the event that follows it`() async throws {
        let folder = try LabFolder()
        let path = folder.path + "/events.sock"
        let events = NetwatchEvents(socket: path)
        var iterator = events.makeAsyncIterator()
        for run in UInt64(1)...2 {
            let lab = try ServerLab(run: run, path: path)
            publish(try change(1, Self.wlan0), on: lab)
            let event = try #require(await iterator.next())
            let from = NetwatchEvent.ID(EventID(run: 1, sequence: 1).description)
            #expect(event.gap == (run == 1 ? nil : .init(from: from, missed: nil, reason: "unknown")))
            try lab.server.stop()
        }
    }

    @Test func `a task that takes nothing loses events to one gap`() async throws {
        let lab = try ServerLab()
        publish(try change(1, Self.wlan0), on: lab)
        let events = NetwatchEvents(socket: lab.path)
        var iterator = events.makeAsyncIterator()
        _ = await iterator.next()
        for sequence in UInt64(2)...2000 { publish(try change(sequence, Self.wlan0), on: lab) }
        while events.latestEvent?.change.sequence != 2000 { try await Task.sleep(for: .milliseconds(1)) }
        var last: UInt64 = 1
        while last < 2000 {
            let event = try #require(await iterator.next())
            // Of the service's own gap, the number counts the event whose state follows.
            let isState = event.change.event == .state
            #expect(event.change.sequence == last + (isState ? 0 : 1) + (event.gap?.missed ?? 0))
            last = event.change.sequence
        }
    }

    @Test func `a cancelled task ends its iteration`() async throws {
        let events = NetwatchEvents(socket: "/nonexistent")
        let task = Task {
            for await _ in events {}
            return true
        }
        task.cancel()
        #expect(await task.value)
    }

    @Test func `a path is the default one of its family, if it meets the requirement`() async throws {
        let lab = try ServerLab()
        publish(try change(1, Self.wwan0), on: lab)
        let events = NetwatchEvents(socket: lab.path)
        var iterator = events.makeAsyncIterator()
        _ = await iterator.next()
        let (server, other) = (try #require(IPAddress("203.0.113.7")), try #require(IPAddress("2001:db8::7")))
        let path = try events.path(to: server, requiring: .any)
        #expect(path.status == .cellular && path.interface == Self.wwan0 && path.isReachable)
        let refused = try events.path(to: server, requiring: .notCellular)
        #expect(!refused.isReachable && refused.reasons == [.notAllowed])
        #expect(try !events.path(to: other, requiring: .any).isReachable)
        for local in ["10.0.0.1", "172.31.0.1", "192.168.1.1", "127.0.0.1", "fe80::1", "fd00::1"] {
            #expect(throws: PathNotKnown.self) { try events.path(to: try #require(IPAddress(local)), requiring: .any) }
        }
    }

    @Test func `a session's requests wait for the service's state`() async throws {
        let lab = try ServerLab()
        publish(try change(1, nil), on: lab)
        let events = NetwatchEvents(socket: lab.path)
        var iterator = events.makeAsyncIterator()
        _ = await iterator.next()
        let transport = ScriptedTransport()
        transport.expect(.get, "/status", .status(.ok))
        let session = try HTTPSession(
            baseURL: "https://203.0.113.7",
            configuration: .init(transport: transport, gate: .waitsForConnectivity(nil), connectivity: events)
        )
        let request = session.get("status")
        #expect(transport.requests.isEmpty)
        publish(try change(2, Self.wlan0), on: lab)
        #expect(try await request.response().status == 200)
        #expect(events.status == .wifi)
        _ = await session.shutdown(within: .zero)
    }
}
