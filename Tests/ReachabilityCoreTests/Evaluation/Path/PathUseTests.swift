import Testing

@testable import ReachabilityCore

/// The interface types that a path uses, and the requirements that it meets.
@Suite struct PathUseTests {
    private static let wifi = NetworkInterface(index: 2, name: "wlan0", kind: .wifi, kindSource: .devtype)
    private static let modem = NetworkInterface(index: 3, name: "wwan0", kind: .cellular, kindSource: .devtype)
    private static let tunnel = NetworkInterface(index: 9, name: "wg0", kind: .tunnel, kindSource: .infoKind)

    private static func family(_ interface: NetworkInterface, over carrier: NetworkInterface) -> FamilyPath {
        .init(
            status: carrier.kind == .cellular ? .cellular : .wifi,
            interface: interface,
            carriers: [carrier],
            gateway: nil,
            source: .init(ipv4: 0xC000_0202),
            metric: 0,
            table: .main,
            isExpensive: carrier.kind == .cellular
        )
    }

    @Test func `a path through a tunnel uses the tunnel and its carrier`() {
        let path = NetworkPath(status: .wifi, ipv4: Self.family(Self.tunnel, over: Self.wifi))
        #expect(
            InterfaceKind.allCases.filter(path.uses) == InterfaceKind.allCases.filter { [.tunnel, .wifi].contains($0) }
        )
        #expect(path.meets(.any) && path.meets(.wifi) && path.meets(.notCellular) && path.meets(.notExpensive))
        #expect(path.meets(.interface("wg0")) && !path.meets(.interface("wlan0")))
    }

    @Test func `a path uses the modem, and fails a requirement, if one family does`() {
        let path = NetworkPath(
            status: .cellular,
            ipv4: Self.family(Self.wifi, over: Self.wifi),
            ipv6: Self.family(Self.modem, over: Self.modem)
        )
        #expect(path.uses(.wifi) && path.uses(.cellular) && !path.uses(.wired))
        #expect(path.meets(.any) && !path.meets(.wifi) && !path.meets(.notCellular) && !path.meets(.notExpensive))
    }

    @Test func `an unreachable path uses no interface and meets no requirement`() {
        let path = NetworkPath(status: .notReachable, ipv4: Self.family(Self.wifi, over: Self.wifi))
        #expect(!InterfaceKind.allCases.contains(where: path.uses))
        #expect(!path.meets(.any))
    }
}
