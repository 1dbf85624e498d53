import HTTPLab
import NIOCore
import NetworkLab
import Reachability
import ReachabilityCore
import RequestGate
import Testing

@testable import NetworkClient

/// The fate of connections on the real kernel while their path is lost and restored.
@Suite(.timeLimit(.minutes(5))) struct PathLossKernelTests {
    private let uplinks: LabUplinks
    private let monitor: ReachabilityMonitor

    init() throws {
        let uplinks = try LabUplinks()
        var configuration = MonitorConfiguration()
        configuration.kindRules = LabUplinks.kinds
        self.uplinks = uplinks
        monitor = try uplinks.home.run { [configuration] in try ReachabilityMonitor(configuration: configuration) }
    }

    private final class Connection: PathFollowing, Sendable {
        let pathLossPolicy: PathLossPolicy?
        let lastByte = NIODeadline.now()
        let losses = Observed<[PathLoss]>([])

        init(_ policy: PathLossPolicy?) { pathLossPolicy = policy }

        func pathWasLost(_ loss: PathLoss, until restoration: EventLoopFuture<Void>?) {
            losses.update { $0.append(loss) }
        }
    }

    /// Follows connections from 192.0.2.2 to the server, unbound and bound.
    private func run(
        _ policy: PathLossPolicy?,
        _ body: (_ gate: KeptGate, _ unbound: Connection, _ bound: Connection) async throws -> Void
    ) async throws {
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        // It is reachable before everything has been read; until then a path that is missing is one that is not known.
        try #require(try await monitor.view(within: .seconds(60)).isSettled)
        let (local, remote) = (try #require(IPAddress("192.0.2.2")), try #require(IPAddress(LabUplinks.server)))
        try await KeptGate.run(monitor, in: uplinks.home) { gate in
            let (unbound, bound) = (Connection(policy), Connection(policy))
            await gate.on { keeper in
                keeper.follow(unbound, .init(local: local, remote: remote, isBound: false, requirement: .any))
                keeper.follow(bound, .init(local: local, remote: remote, isBound: true, requirement: .notCellular))
            }
            try await body(gate, unbound, bound)
        }
    }

    /// The cause of a path loss, with the loss that a connection without a grace period gets.
    enum Cause: CaseIterable {
        case carrier, link, route, address

        func apply(to uplinks: LabUplinks) throws {
            switch self {
            case .carrier: try uplinks.loseWiFi()
            case .link: try uplinks.home.rtnl.setDown("wlan0")
            case .route: try uplinks.home.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
            case .address: try uplinks.home.rtnl.deleteAddress("192.0.2.2/24", on: "wlan0")
            }
        }
    }

    @Test(arguments: Cause.allCases)
    func `connections in use are given up after the grace period`(cause: Cause) async throws {
        try await run(.waitInFlight(.milliseconds(1))) { _, unbound, bound in
            try cause.apply(to: uplinks)
            for connection in [unbound, bound] {
                let losses = try await connection.losses.wait(for: "the loss") { !$0.isEmpty }
                switch losses.first {
                case .addressGone: #expect(cause == .address)
                case .silent: #expect(cause != .address)
                default: Issue.record("\(losses)")
                }
            }
        }
    }

    @Test(arguments: Cause.allCases)
    func `idle connections are closed`(cause: Cause) async throws {
        try await run(nil) { _, unbound, bound in
            try cause.apply(to: uplinks)
            try await unbound.losses.wait(for: "the loss") { $0 == [.idle] }
            try await bound.losses.wait(for: "the loss of the bound one") { $0 == [.idle] }
        }
    }

    @Test func `a renewed address and unrelated changes are not a loss`() async throws {
        try await run(.failFast) { gate, unbound, bound in
            try uplinks.home.rtnl.setDown("wwan0")
            try uplinks.home.rtnl.addAddress("192.0.2.3/24", on: "wlan0")
            try uplinks.home.rtnl.addRoute("203.0.113.0/24", via: "192.0.2.1", on: "wlan0")
            let key = GateKey(LabUplinks.server, .interface("wwan0"))
            await gate.hold(key)
            try uplinks.home.rtnl.setUp("wwan0")
            try uplinks.home.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700)
            try await gate.wait(key, for: "the modem") { $0.mayGo }
            await gate.on { _ in }
            #expect(unbound.losses.value.isEmpty)
            #expect(bound.losses.value.isEmpty)
        }
    }
}
