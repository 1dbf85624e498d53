import CommandLineLab
import CommandLineSupport
import EventServer
import LinuxSystem
import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing
import ValidationCore

@testable import netwatchd

/// The events of verdicts, published by a server in this process.
@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct EventPublisherTests {
    private let lab: ServerLab
    private let publisher: EventPublisher

    init() throws {
        lab = try ServerLab(validates: true)
        publisher = EventPublisher(server: lab.server, report: ServiceReport(nil), wakeup: try Wakeup())
    }

    private static func path(_ index: InterfaceIndex, gateway: String = "192.0.2.1") throws -> NetworkPath {
        let interface = NetworkInterface(index: index, name: "eth\(index)", kind: .wired, kindSource: .plain)
        let family = FamilyPath(
            status: .wifi,
            interface: interface,
            carriers: [interface],
            gateway: IPAddress(gateway),
            source: try #require(IPAddress("192.0.2.7")),
            metric: 600,
            table: .main
        )
        return .init(status: .wifi, interface: interface, carriers: [interface], ipv4: family)
    }

    /// The path changes.
    private func publish(_ path: NetworkPath, event: ReachabilityChange.Event = .change) {
        let reasons: [ReachabilityReason] = [.routeReplaced]
        publisher.publish(
            .init(event: event, status: path.status, previous: nil, path: path, reasons: reasons, sequence: 1)
        )
    }

    /// The validator reports about a path.
    private func take(
        _ verdict: ValidationVerdict,
        _ path: NetworkPath,
        checked second: Int64 = 0,
        isMetered: Bool = false
    ) {
        let time = Timestamp(seconds: second, nanoseconds: 0)
        var about = ValidationPath(path)
        about?.isMetered = isMetered
        publisher.take(.init(verdict: verdict, since: time, checkedAt: time, basis: .probes, path: about))
    }

    private func state() throws -> JSONValue { try JSONParser.parse(try lab.get("/v1/state").body) }

    @Test func `a verdict is an event of its own, with the state as it is`() throws {
        let path = try Self.path(2)
        publish(path, event: .state)
        let events = try lab.follow()
        #expect(try events.object()["validation"] == nil)
        take(.portal(.init(loginURL: "http://h.example/")), path)
        let event = try events.event()
        #expect(event?["id"] == ServerLab.id(2))
        let object = try JSONParser.parse(try #require(event?["data"]))
        #expect(object["event"]?.text == "validation" && object["seq"]?.number == 2)
        #expect(object["status"]?.text == "wifi" && object["previous"]?.text == "wifi")
        #expect(object["reasons"]?.elements?.isEmpty == true && object["path"]?["interface"]?["name"]?.text == "eth2")
        #expect(object["validation"]?["verdict"]?.text == "portal")
        #expect(object["validation"]?["loginURL"]?.text == "http://h.example/")
        let state = try state()
        #expect(state["event"]?.text == "state" && state["seq"]?.number == 2 && state["reasons"]?.elements?.count == 1)
        #expect(state["validation"] == object["validation"])
        #expect(try lab.get("/metrics").body.contains("\nnetwatch_validation{verdict=\"portal\"} 1\n"))
    }

    @Test func `a verdict that is confirmed changes the state, and is no event`() throws {
        let path = try Self.path(2)
        publish(path, event: .state)
        take(.validated, path)
        take(.validated, path, checked: 60)
        #expect(try state()["validation"]?["checked"]?.text == "1970-01-01T00:01:00.000000Z")
        take(.noInternet(.noResponse), path, checked: 70)
        let events = try lab.follow("/v1/events?after=\(ServerLab.id(1))")
        #expect(
            try [events.object(), events.object()].map { $0["validation"]?["verdict"]?.text } == [
                "validated", "noInternet",
            ]
        )
        #expect(try state()["seq"]?.number == 3)
    }

    @Test func `that nothing is known of a new path is no event, and of one that was validated it is`() throws {
        let path = try Self.path(2)
        publish(path, event: .state)
        take(.notChecked, path)
        #expect(try state()["seq"]?.number == 1 && state()["validation"]?["verdict"]?.text == "notChecked")
        take(.validated, path)
        publisher.take(nil)
        let state = try state()
        #expect(state["seq"]?.number == 3 && state["validation"]?["verdict"]?.text == "notChecked")
        #expect(state["validation"]?["checked"] == .null)
    }

    @Test func `a verdict is shown as long as it is about the path, however it is metered`() throws {
        let (first, second) = (try Self.path(2), try Self.path(3))
        publish(first, event: .state)
        take(.validated, first, isMetered: true)
        publish(first)
        #expect(try state()["validation"]?["verdict"]?.text == "validated")
        publish(second)
        #expect(try state()["validation"] == nil)
        // One that is late, and one about another gateway.
        take(.portal(.init()), first)
        take(.portal(.init()), try Self.path(3, gateway: "192.0.2.9"))
        #expect(try state()["validation"] == nil && state()["seq"]?.number == 4)
        // One that is early.
        take(.validated, first)
        publish(first)
        #expect(try state()["validation"]?["verdict"]?.text == "validated" && state()["seq"]?.number == 5)
        publish(.init(status: .notReachable, reasons: [.noRoute]))
        #expect(try state()["validation"] == nil)
    }

    @Test func `the details of Wi-Fi do not hide the verdict`() throws {
        let path = try Self.path(2)
        let summary = ValidationSummary(verdict: .validated, since: .init(seconds: 0, nanoseconds: 0))
        let change = ReachabilityChange(
            event: .change,
            status: .wifi,
            previous: nil,
            path: path,
            reasons: [],
            sequence: 1
        )
        let event = EventPublisher.event(of: change, at: .init(seconds: 0, nanoseconds: 0), summary)
        let line = String(decoding: EventPublisher.detailedState(after: event, []), as: UTF8.self)
        #expect(line == String(decoding: event.detailedState, as: UTF8.self) && line.contains(summary.json))
    }

    @Test func `without a validator an event is what watch --json prints`() throws {
        let path = try Self.path(2)
        let change = ReachabilityChange(
            event: .change,
            status: .wifi,
            previous: nil,
            path: path,
            reasons: [.routeAdded],
            sequence: 1
        )
        let time = Timestamp(seconds: 0, nanoseconds: 0)
        #expect(EventPublisher.event(of: change, at: time).line == ChangeFormat.json.line(change, at: time))
    }
}
