import DurableStore
import HTTPLab
import NetworkClient
import NetworkClientTesting
import Reachability
import ReachabilityCore
import Testing

@testable import Outbox

/// Paths that come back before the sender has read its lanes.
@Suite(.timeLimit(.minutes(5))) struct EarlyPathTests {
    /// Stands still: no pause ends by itself.
    private let clock = LabClock()

    /// Returns an outbox whose lane was paused by an earlier sender, and the item that waits.
    private func makePausedLab() async throws -> (OutboxLab, OutboxItem.ID) {
        let isReady = Observed(false)
        let lab = try OutboxLab { _ in
            isReady.value ? [.response("done")] : [.response(status: "503 Service Unavailable")]
        }
        let outbox = try await lab.open(clock)
        let id = try await lab.lane(outbox).post("a", .text("x"))
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        await outbox.shutdown()
        isReady.update { $0 = true }
        return (lab, id)
    }

    @Test func `a path that comes back before the first lane is read ends the stored pauses`() async throws {
        let (lab, id) = try await makePausedLab()
        let storage = try BoxStorage(at: lab.path, clock: clock.machine)
        let network = ScriptedMonitor()
        let sender = Sender(storage, lab.session, nil, Signal(), .init(path: { network.path })) { _ in }
        await sender.pathReturned()
        let sending = Task { await sender.run() }
        #expect(try await storage.waitForEnd(of: id.rawValue).end == .delivered)
        await sender.stop(within: .zero)
        await sending.value
        storage.store.close()
    }

    @Test func `a path that comes back before it is watched ends the stored pauses`() async throws {
        let (lab, id) = try await makePausedLab()
        let network = ReturningNetwork()
        let configuration = HTTPConfiguration(
            timeouts: OutboxLab.patient,
            proxy: .direct,
            retry: .never,
            connectivity: network
        )
        let session = try HTTPSession(configuration: configuration)
        let outbox = try await Outbox(at: lab.path, session, .init(minimumFreeSpace: 0), clock: clock.machine)
        #expect(try await outbox.storage.waitForEnd(of: id.rawValue).end == .delivered)
        await outbox.shutdown()
    }
}

/// A network whose path comes back just before the first watch of it begins.
private final class ReturningNetwork: Connectivity {
    private let monitor = ScriptedMonitor(.notReachable)

    var status: ReachabilityStatus { monitor.status }
    var path: NetworkPath { monitor.path }

    func path(to destination: IPAddress, requiring requirement: PathRequirement) -> DestinationPath {
        monitor.path(to: destination, requiring: requirement)
    }

    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        monitor.status = .wifi
        return monitor.watch(destinations, body)
    }
}
