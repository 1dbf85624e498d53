import NetwatchCore
import Reachability
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct ExplanationTextTests {
    private let names = InterfaceNames(snapshot: .init())

    private func selection(
        _ gateway: String?,
        table: RouteTableID = .main,
        type: RouteType = .unicast
    ) -> RouteSelection {
        let nextHop = SelectedNextHop(
            interface: 4,
            gateway: gateway.flatMap { IPAddress($0) },
            source: IPAddress("192.0.2.2")
        )
        return .init(table: table, type: type, metric: 600, nextHop: nextHop)
    }

    @Test func `routes are formatted`() {
        let lines = [
            RouteText.selection(selection("192.0.2.1"), names: names, isFromModel: true),
            RouteText.selection(selection(nil, table: .init(rawValue: 100)), names: names, isFromModel: true),
            RouteText.selection(selection(nil, type: .local), names: names, isFromModel: false),
        ]
        #expect(
            lines == [
                "via 192.0.2.1 dev if4 source 192.0.2.2 table main metric 600",
                "dev if4 source 192.0.2.2 table 100 metric 600",
                "local dev if4 source 192.0.2.2",
            ]
        )
    }

    @Test func `a destination with a different carrier is explained`() throws {
        let path = DestinationPath(
            destination: try #require(IPAddress("203.0.113.7")),
            status: .cellular,
            interface: Samples.tunnel,
            carriers: [Samples.wwan],
            outcome: .selected(selection("192.0.2.1")),
            reasons: []
        )
        #expect(
            DestinationText.lines(path, names: names) == [
                "203.0.113.7: cellular", "  the kernel's route: via 192.0.2.1 dev if4 source 192.0.2.2",
                "  wg0 (tunnel) is carried by wwan0 (cellular)",
            ]
        )
    }

    @Test func `a refused destination is explained`() throws {
        let path = DestinationPath(
            destination: try #require(IPAddress("2001:db8::7")),
            status: .notReachable,
            outcome: .refused(errno: 13, .prohibited),
            reasons: [.prohibited]
        )
        #expect(
            DestinationText.lines(path, names: names) == [
                "2001:db8::7: notReachable", "  the kernel refuses: Permission denied",
                "  path.prohibited: A rule or a route says prohibit.",
                "    fix: Find it with 'ip rule' and 'ip route show table all type prohibit'.",
            ]
        )
    }

    @Test func `a fix names the interface`() {
        let lines = ReasonText.lines([.interfaceDown, .deadNextHop], interface: "wl\u{1B}an0", indentation: "")
        #expect(lines[1] == "  fix: 'ip link set dev wl\\u{1b}an0 up'")
        #expect(lines.count == 4)
        #expect(ReasonText.lines([.interfaceDown], interface: nil, indentation: "")[1].contains("dev NAME up"))
    }
}
