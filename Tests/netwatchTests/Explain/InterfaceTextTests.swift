import ReachabilityCore
import Testing

@testable import netwatch

/// The text of `explain` about the interfaces that the lookups lead to.
struct InterfaceTextTests {
    /// An explanation of one IPv4 path through an interface, over a carrier.
    private func explanation(_ interface: NetworkInterface, over carrier: NetworkInterface) throws -> PathExplanation {
        let source = try #require(IPAddress("192.0.2.2"))
        let path = FamilyPath(
            status: .wifi,
            interface: interface,
            carriers: [carrier],
            gateway: nil,
            source: source,
            metric: 0,
            table: .main
        )
        let nextHop = SelectedNextHop(interface: interface.index, source: source)
        let ipv4 = FamilyEvaluation(outcomes: [.selected(.init(table: .main, nextHop: nextHop))], path: path)
        let evaluation = PathEvaluation(
            path: .init(status: .wifi, interface: interface, carriers: [carrier], ipv4: path),
            ipv4: ipv4,
            ipv6: .init(outcomes: [], path: nil)
        )
        let context = EvaluationContext(user: 0)
        let now = Instant(nanoseconds: 0)
        var explanation = PathExplanation(of: evaluation, in: .init(), context: context, at: now)
        for one in [interface, carrier] { explanation.interfaces[one.index] = one }
        return explanation
    }

    private let phone = NetworkInterface(index: 2, name: "enx02", kind: .wired, kindSource: .plain)
    private let tunnel = NetworkInterface(index: 9, name: "wg0", kind: .tunnel, kindSource: .infoKind)

    @Test func `a hint has the kind rule that decides`() throws {
        var explanation = try explanation(phone, over: phone)
        explanation.hints = [2: .tethering(driver: "rndis_host")]
        #expect(
            InterfaceText(explanation: explanation).lines == [
                "interfaces:",
                "  enx02 (wired): Ethernet of which nothing else is known (plain)",
                "    hint: the driver rndis_host serves Ethernet adapters and tethered phones alike",
                "      if a phone is behind it: --kind 'enx02=cellular'",
            ]
        )
    }

    @Test func `the hint for an iPhone's driver has only its devices`() throws {
        var explanation = try explanation(phone, over: phone)
        explanation.hints = [2: .tethering(driver: "ipheth")]
        let hint = "    hint: the driver ipheth serves the tethering of iPhones, and nothing else"
        #expect(InterfaceText(explanation: explanation).lines.contains(hint))
    }

    @Test func `a tunnel has the basis of its carrier`() throws {
        var explanation = try explanation(tunnel, over: phone)
        explanation.tunnels = [9: .endpoint(try #require(IPAddress("198.51.100.7")))]
        let lines = InterfaceText(explanation: explanation).lines
        #expect(
            lines.last == "    carried by enx02 (wired): Ethernet of which nothing else is known (plain), "
                + "the kernel's path to the tunnel's other end, 198.51.100.7"
        )
        explanation.tunnels = [9: .anyDefaultPath("its endpoint cannot be queried: Operation not permitted")]
        let why = "the best default path outside the tunnel: its endpoint cannot be queried: Operation not permitted"
        #expect(InterfaceText(explanation: explanation).lines.last?.hasSuffix(why) == true)
    }

    @Test func `hostile names stay on their line`() throws {
        var hostile = phone
        hostile.name = "a\u{1b}[2J"
        var explanation = try explanation(hostile, over: hostile)
        explanation.hints = [2: .unidentified("x\ny")]
        let text = InterfaceText(explanation: explanation).lines.joined()
        #expect(!text.contains("\u{1b}"))
        #expect(!text.contains("\n"))
    }
}
