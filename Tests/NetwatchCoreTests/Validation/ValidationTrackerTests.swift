import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct ValidationTrackerTests {
    private static let time = Timestamp(seconds: 0, nanoseconds: 0)

    private static func path(_ gateway: String) -> NetworkPath {
        let interface = NetworkInterface(index: 4, name: "wlan0", kind: .wifi, kindSource: .devtype)
        let family = FamilyPath(
            status: .wifi,
            interface: interface,
            carriers: [interface],
            gateway: IPAddress(gateway),
            source: .init(ipv4: 0xC000_0202),
            metric: 600,
            table: .main
        )
        return .init(status: .wifi, interface: interface, carriers: [interface], ipv4: family)
    }

    private static func change(_ path: NetworkPath, _ sequence: UInt64) -> ReachabilityChange {
        .init(
            event: sequence == 1 ? .state : .change,
            status: path.status,
            previous: nil,
            path: path,
            reasons: [.routeAdded],
            sequence: sequence
        )
    }

    private static func report(_ verdict: ValidationVerdict, _ path: NetworkPath) -> ValidationSummary {
        .init(verdict: verdict, since: time, path: ValidationPath(path))
    }

    private let home = Self.path("192.0.2.1")
    private let hotel = Self.path("198.51.100.1")

    @Test func `each verdict on a path is told once, with consecutive numbers`() throws {
        var tracker = ValidationTracker()
        let told = tracker.take(Self.change(home, 1))
        #expect(told.map(\.eventName) == ["state"] && told[0].validation == nil)
        #expect(tracker.take(Self.report(.notChecked, home)) == nil)
        let first = tracker.take(Self.report(.validated, home))
        let validated = try #require(first)
        #expect(validated.eventName == "validation" && validated.change.sequence == 2)
        #expect(validated.change.status == .wifi && validated.change.previous == .wifi)
        #expect(validated.change.reasons.isEmpty && validated.validation?.verdict == .validated)
        #expect(tracker.take(Self.report(.validated, home)) == nil)
        let changed = tracker.take(Self.change(home, 2))
        #expect(changed.map(\.change.sequence) == [3] && changed[0].validation?.verdict == .validated)
        #expect(tracker.take(Self.report(.portal(.init()), home))?.change.sequence == 4)
        #expect(tracker.take(Self.report(.notChecked, home))?.validation?.verdict == .notChecked)
    }

    @Test func `a report about another path counts when that path is there`() {
        var tracker = ValidationTracker()
        _ = tracker.take(Self.change(home, 1))
        #expect(tracker.take(Self.report(.portal(.init()), hotel)) == nil)
        #expect(tracker.current == nil)
        let told = tracker.take(Self.change(hotel, 2))
        #expect(told.map(\.eventName) == ["change", "validation"])
        #expect(told.allSatisfy { $0.validation?.verdict == .portal(.init()) })
        #expect(tracker.take(Self.change(home, 3)).map { $0.validation?.verdict } == [nil])
        #expect(tracker.take(Self.change(hotel, 4)).map(\.eventName) == ["change", "validation"])
    }

    @Test func `without a report there is no verdict, and the same one is not told again`() {
        var tracker = ValidationTracker()
        _ = tracker.take(Self.change(home, 1))
        #expect(tracker.take(Self.report(.validated, home)) != nil)
        #expect(tracker.take(nil) == nil)
        #expect(tracker.current == nil)
        #expect(tracker.take(Self.report(.validated, home)) == nil)
        #expect(tracker.current?.verdict == .validated)
    }
}
