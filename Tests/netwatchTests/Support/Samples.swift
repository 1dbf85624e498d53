import NetwatchCore
import ReachabilityCore

@testable import netwatch

/// Values for tests.
enum Samples {
    static let time = Timestamp(seconds: 1_795_204_800, nanoseconds: 123_456_789)

    static let wlan = NetworkInterface(index: 4, name: "wlan0", kind: .wifi, kindSource: .devtype)
    static let wwan = NetworkInterface(index: 5, name: "wwan0", kind: .cellular, kindSource: .rule)
    static let tunnel = NetworkInterface(index: 9, name: "wg0", kind: .tunnel, kindSource: .infoKind)

    static func family(
        _ interface: NetworkInterface,
        _ gateway: String?,
        _ source: String,
        _ metric: UInt32
    ) -> FamilyPath {
        .init(
            status: interface.kind == .cellular ? .cellular : .wifi,
            interface: interface,
            carriers: [interface],
            gateway: gateway.flatMap { IPAddress($0) },
            source: IPAddress(source) ?? .init(ipv4: 0),
            metric: metric,
            table: .main
        )
    }

    static let wifiPath = NetworkPath(
        status: .wifi,
        interface: wlan,
        carriers: [wlan],
        ipv4: family(wlan, "192.0.2.1", "192.0.2.2", 600)
    )

    static let bothPath = NetworkPath(
        status: .cellular,
        interface: tunnel,
        carriers: [wwan],
        ipv4: family(tunnel, nil, "10.0.0.2", 0),
        ipv6: family(wlan, "fe80::1", "2001:db8::2", 1024),
        reasons: [.deadNextHop]
    )

    static let wifiChange = ReachabilityChange(
        event: .change,
        status: .wifi,
        previous: .notReachable,
        path: wifiPath,
        reasons: [.routeAdded],
        sequence: 3
    )
    static let lost = ReachabilityChange(
        event: .change,
        status: .notReachable,
        previous: .wifi,
        path: .init(status: .notReachable, reasons: [.noRoute, .linkDown]),
        reasons: [.linkDown, .routeFlushed],
        sequence: 4
    )
    static let first = ReachabilityChange(
        event: .state,
        status: .cellular,
        previous: nil,
        path: bothPath,
        reasons: [.initial],
        sequence: 1
    )
    static let resync = ReachabilityChange(
        event: .resync,
        status: .wifi,
        previous: .wifi,
        path: wifiPath,
        reasons: [.overrun],
        sequence: UInt64.max
    )
}
