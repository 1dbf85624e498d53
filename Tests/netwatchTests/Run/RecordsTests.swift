import NetwatchCore
import Reachability
import ReachabilityCore
import Testing
import ValidationCore

@testable import netwatch

@Suite struct RecordsTests {
    @Test(arguments: [
        (StateArgument.reachable, [ReachabilityStatus.wifi, .cellular]), (.wifi, [.wifi]), (.cellular, [.cellular]),
        (.notReachable, [.notReachable]),
    ])
    func `a condition holds for its states`(condition: StateArgument, states: [ReachabilityStatus]) {
        #expect(ReachabilityStatus.allCases.filter(condition.holds).sorted { $0.rawValue > $1.rawValue } == states)
    }

    @Test func `an absence is remembered until it is reset, and unknown is no absence`() {
        var record = ConnectivityRecord(WaitedPath(.reachable))
        #expect(!record.holds && !record.wasAway)
        record.note(NetworkPath(status: .unknown))
        #expect(!record.holds && !record.wasAway)
        record.note(NetworkPath(status: .notReachable))
        record.note(NetworkPath(status: .wifi))
        #expect(record.holds && record.wasAway)
        record.resetAbsence()
        #expect(record.holds && !record.wasAway)
        record.note(NetworkPath(status: .unknown))
        #expect(!record.holds && !record.wasAway)
    }

    @Test func `a path that has to be validated holds while the report about it says so, and a portal is an absence`() {
        var record = ConnectivityRecord(WaitedPath(.reachable, needsValidation: true))
        let time = Timestamp(seconds: 0, nanoseconds: 0)
        let path = ValidationPath(Samples.wifiPath)
        record.note(Samples.wifiPath)
        #expect(!record.holds && !record.wasAway)
        record.note(ValidationSummary(verdict: .notChecked, since: time, path: path))
        #expect(!record.holds && !record.wasAway)
        record.note(ValidationSummary(verdict: .validated, since: time, path: path))
        #expect(record.holds && !record.wasAway)
        record.note(Samples.bothPath)
        #expect(!record.holds && !record.wasAway && record.currentReport == nil)
        record.note(Samples.wifiPath)
        #expect(record.holds)
        record.note(ValidationSummary(verdict: .portal(.init()), since: time, path: path))
        #expect(!record.holds && record.wasAway)
        record.note(nil)
        #expect(!record.holds)
    }

    @Test func `a host is reachable by any address, and away only if all are`() throws {
        let one = try #require(IPAddress("192.0.2.1"))
        let two = try #require(IPAddress("2001:db8::1"))
        var reachable = DestinationsRecord([one, two], condition: .reachable)
        reachable.note(.notReachable, of: one)
        #expect(!reachable.hasHeld)
        reachable.note(.wifi, of: two)
        #expect(reachable.hasHeld)
        reachable.note(.notReachable, of: two)
        #expect(reachable.hasHeld)
        var away = DestinationsRecord([one, two], condition: .notReachable)
        away.note(.notReachable, of: one)
        #expect(!away.hasHeld)
        away.note(.wifi, of: one)
        away.note(.notReachable, of: two)
        #expect(!away.hasHeld)
        away.note(.notReachable, of: one)
        #expect(away.hasHeld)
    }

    @Test func `the route to a host is not taken for WiFi while its device is being identified`() throws {
        var path = DestinationPath(
            destination: try #require(IPAddress("192.0.2.1")),
            status: .wifi,
            outcome: .refused(errno: LookupErrno.networkUnreachable, .noRoute),
            reasons: [.deviceProbing]
        )
        var wifi = DestinationsRecord([path.destination], condition: .wifi)
        var reachable = DestinationsRecord([path.destination], condition: .reachable)
        wifi.note(path)
        reachable.note(path)
        #expect(!wifi.hasHeld && reachable.hasHeld)
        path.status = .cellular
        path.reasons = []
        wifi.note(path)
        #expect(!wifi.hasHeld)
        path.status = .wifi
        wifi.note(path)
        #expect(wifi.hasHeld)
    }

    @Test func `a command is searched for in PATH`() {
        #expect(CommandSearch.candidates(for: "x", path: "/a::/b") == ["/a/x", "./x", "/b/x"])
        #expect(CommandSearch.find("./any") == "./any")
        #expect(CommandSearch.find("sh")?.hasSuffix("/sh") == true)
        #expect(CommandSearch.find("no-such-command-here") == nil)
    }
}
