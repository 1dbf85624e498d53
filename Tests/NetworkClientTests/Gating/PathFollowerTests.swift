import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab
import Reachability
import ReachabilityCore
import RequestGate
import Testing

@testable import NetworkClient

/// The fate of connections when the simulated network changes.
@Suite(.timeLimit(.minutes(5))) struct PathFollowerTests {
    private static let own = IPAddress(ipv4: 0xC000_0202)
    private static let far = IPAddress(ipv4: 0xCB00_7107)
    private let connectivity = MadeUpConnectivity(
        .init(ways: [nil: [MadeUpConnectivity.wlan, MadeUpConnectivity.wwan]], own: [own])
    )

    /// A connection that records its losses.
    private final class Connection: PathFollowing, Sendable {
        let pathLossPolicy: PathLossPolicy?
        let lastByte: NIODeadline
        let losses = Observed<[PathLoss]>([])
        let restorations = Observed<[EventLoopFuture<Void>]>([])
        let probes = Observed(0)

        init(_ policy: PathLossPolicy?, lastByte: NIODeadline = .now()) {
            pathLossPolicy = policy
            self.lastByte = lastByte
        }

        func probe() { probes.update { $0 += 1 } }

        func pathWasLost(_ loss: PathLoss, until restoration: EventLoopFuture<Void>?) {
            // Tests wait for the loss, and then expect the rest.
            if let restoration { restorations.update { $0.append(restoration) } }
            losses.update { $0.append(loss) }
        }
    }

    private func follow(
        _ policy: PathLossPolicy?,
        _ requirement: PathRequirement = .any,
        in gate: KeptGate
    ) async -> Connection {
        let connection = Connection(policy)
        await gate.on { keeper in
            keeper.follow(
                connection,
                .init(local: Self.own, remote: Self.far, isBound: requirement != .any, requirement: requirement)
            )
        }
        return connection
    }

    @Test func `a connection whose path can't be looked up after a change is judged once it can`() async throws {
        try await KeptGate.run(connectivity) { gate in
            let idle = await follow(nil, in: gate)
            connectivity.change { network in
                network.ways = [nil: [MadeUpConnectivity.wwan]]
                network.isBroken = true
            }
            await gate.on { _ in }
            #expect(idle.losses.value.isEmpty)
            connectivity.changeSilently { $0.isBroken = false }
            try await idle.losses.wait(for: "the loss") { $0 == [.idle] }
        }
    }

    @Test func `idle connections are closed when their path changes, others kept`() async throws {
        try await KeptGate.run(connectivity) { gate in
            let idle = await follow(nil, in: gate)
            let bound = await follow(nil, .wifi, in: gate)
            connectivity.change { $0.reasons = [.deadNextHop] }
            await gate.on { _ in }
            #expect(idle.losses.value.isEmpty)
            connectivity.change { $0.ways = [nil: [MadeUpConnectivity.wwan, MadeUpConnectivity.wlan]] }
            try await idle.losses.wait(for: "the loss") { $0 == [.idle] }
            #expect(bound.losses.value.isEmpty)
            connectivity.change { $0.ways = [nil: [MadeUpConnectivity.wwan]] }
            try await bound.losses.wait(for: "the loss of the bound one") { $0 == [.idle] }
            await gate.on { _ in }
            #expect(connectivity.watchCount == 0)
        }
    }

    @Test func `an address that is missing for longer than a renewal is a loss`() async throws {
        try await KeptGate.run(connectivity) { gate in
            let running = await follow(.failFast, in: gate)
            // On the loop, so that no time passes for it in between; the second change follows the review of the loss.
            await gate.on { [connectivity] _ in
                connectivity.change { $0.own = [] }
                MultiThreadedEventLoopGroup.currentEventLoop?.execute { connectivity.change { $0.own = [Self.own] } }
            }
            await gate.on { _ in }
            await gate.on { _ in }
            #expect(running.losses.value.isEmpty)
            connectivity.change { $0.own = [] }
            try await running.losses.wait(for: "the loss") { $0 == [.addressGone] }
        }
    }

    @Test func `a lost route is a loss after a silence, unless it is restored before`() async throws {
        try await KeptGate.run(connectivity) { gate in
            let patient = await follow(.waitInFlight(.seconds(3_600)), in: gate)
            let hasty = await follow(.waitInFlight(.milliseconds(1)), in: gate)
            connectivity.change { network in
                network.reasons = [.noCarrier]
                network.ways = [:]
            }
            try await hasty.losses.wait(for: "the loss") { $0 == [.silent(.milliseconds(1), [.noCarrier])] }
            try await patient.probes.wait(for: "the probe") { $0 == 1 }
            #expect(patient.losses.value.isEmpty)
            connectivity.change { $0.ways = [nil: [MadeUpConnectivity.wlan]] }
            await gate.on { $0.unfollow(patient) }
            #expect(patient.losses.value.isEmpty)
        }
    }

    @Test func `without any path nothing is sent: there is no probe, and the end of a connection waits for a path`()
        async throws
    {
        try await KeptGate.run(connectivity) { gate in
            let patient = await follow(.waitInFlight(.seconds(3_600)), in: gate)
            let hasty = await follow(.waitInFlight(.milliseconds(1)), in: gate)
            connectivity.change { $0 = .init(status: .notReachable, reasons: [.noCarrier], own: [Self.own]) }
            try await hasty.losses.wait(for: "the loss") { $0 == [.silent(.milliseconds(1), [.noCarrier])] }
            #expect(patient.probes.value == 0)
            let restoration = try #require(hasty.restorations.value.first)
            connectivity.change { $0 = .init(ways: [nil: [MadeUpConnectivity.wlan]], own: [Self.own]) }
            try await restoration.get()
        }
    }

    @Test func `a connection is closed immediately when its interface no longer meets the requirement`()
        async throws
    {
        try await KeptGate.run(connectivity) { gate in
            let running = await follow(.waitInFlight(.seconds(3_600)), .notCellular, in: gate)
            connectivity.change { network in
                let renamed = NetworkInterface(index: 10, name: "wlan0", kind: .cellular, kindSource: .rule)
                network.ways = [nil: [renamed]]
            }
            try await running.losses.wait(for: "the loss") { $0 == [.notAllowed] }
        }
    }

    @Test func `local connections, and those with an unknown path, are kept`() async throws {
        connectivity.changeSilently { $0.status = .unknown }
        try await KeptGate.run(connectivity) { gate in
            let early = await follow(.failFast, in: gate)
            connectivity.change { $0.status = .wifi }
            await gate.on { _ in }
            let local = Connection(.failFast)
            await gate.on { keeper in
                let ends = ConnectionEnds(local: Self.own, remote: Self.own, isBound: false, requirement: .any)
                keeper.follow(local, ends)
            }
            connectivity.change { $0.own = [] }
            try await early.losses.wait(for: "the loss of what was not known at first") { $0 == [.addressGone] }
            #expect(local.losses.value.isEmpty)
        }
    }
}
