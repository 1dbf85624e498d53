import ReachabilityCore
import Testing

@testable import Outbox

/// The paths whose bytes are counted for a lane with a limit.
@Suite struct PathCostTests {
    private static let ethernet = NetworkInterface(index: 2, name: "eth0", kind: .wired, kindSource: .devtype)
    private static let wifi = NetworkInterface(index: 3, name: "wlan0", kind: .wifi, kindSource: .devtype)
    private static let modem = NetworkInterface(index: 4, name: "wwan0", kind: .cellular, kindSource: .devtype)

    private let source: IPAddress

    init() throws { source = try #require(IPAddress("192.0.2.7")) }

    private func cost(of interface: NetworkInterface) -> PathCost {
        let isExpensive = interface.kind == .cellular
        let family = FamilyPath(
            status: isExpensive ? .cellular : .wifi,
            interface: interface,
            carriers: [interface],
            gateway: nil,
            source: source,
            metric: 100,
            table: .main,
            isExpensive: isExpensive
        )
        let path = NetworkPath(
            status: family.status,
            interface: interface,
            carriers: [interface],
            ipv4: family,
            isExpensive: isExpensive
        )
        return PathCost { path }
    }

    @Test(arguments: [PathRequirement.any, .notCellular])
    func `a lane that is free to use any interface costs what the machine's path costs`(requirement: PathRequirement) {
        let options = LaneOptions(path: requirement, bytesPerDay: 1_000)
        #expect(!cost(of: Self.ethernet).isExpensive(for: options))
        #expect(cost(of: Self.modem).isExpensive(for: options))
    }

    @Test func `a lane that is bound to an interface is counted unless the machine's path is there, and free`() {
        let modem = LaneOptions(path: .interface("wwan0"), bytesPerDay: 1_000)
        #expect(cost(of: Self.ethernet).isExpensive(for: modem))
        #expect(cost(of: Self.modem).isExpensive(for: modem))
        #expect(!cost(of: Self.ethernet).isExpensive(for: .init(path: .interface("eth0"), bytesPerDay: 1_000)))
    }

    @Test func `a lane that uses only Wi-Fi is counted unless the machine's path is there, and free`() {
        let options = LaneOptions(path: .wifi, bytesPerDay: 1_000)
        #expect(!cost(of: Self.wifi).isExpensive(for: options))
        #expect(cost(of: Self.modem).isExpensive(for: options))
    }

    @Test func `a lane that uses only paths that cost nothing is not counted`() {
        #expect(!cost(of: Self.modem).isExpensive(for: .init(path: .notExpensive, bytesPerDay: 1_000)))
    }
}
