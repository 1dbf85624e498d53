import HTTPLab
import NetworkClient
import NetworkClientTesting
import NetworkLab
import OutboxCore
import Testing

@testable import Outbox

/// A lane gets another destination while it has items.
@Suite(.timeLimit(.minutes(5))) struct ChangedDestinationTests {
    private let clock = LabClock()
    private let new: AnsweringServer

    init() throws { new = try AnsweringServer { _ in [.response("done")] } }

    private func update(_ outbox: Outbox) async throws { try await outbox.lane("readings", to: new.url).update() }

    private func waitForPause(_ outbox: Outbox) async throws {
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test func `an item that waits for a path is sent to the new destination`() async throws {
        let network = ScriptedMonitor(.notReachable)
        let lab = try OutboxLab(connectivity: network)
        let outbox = try await lab.open()
        try await lab.lane(outbox).post("a", .text("x"))
        try await network.waitUntilWatched()
        try await update(outbox)
        network.status = .wifi
        #expect(try await outbox.next(1).first?.end == .delivered)
        #expect(lab.server.requests.value.isEmpty && new.requests.value.count == 1)
        await outbox.shutdown()
    }

    @Test func `a pause after failures of the old destination ends`() async throws {
        let lab = try OutboxLab { _ in [.response(status: "503 Service Unavailable", headers: ["Retry-After: 86400"])] }
        let outbox = try await lab.open(clock)
        try await lab.lane(outbox).post("a", .text("x"))
        try await waitForPause(outbox)
        try await update(outbox)
        #expect(try await outbox.next(1).first?.end == .delivered)
        #expect(try await outbox.storage.lanes().first?.pause == nil)
        await outbox.shutdown()
    }

    @Test func `a failure of the old destination does not pause the lane`() async throws {
        let isUpdated = try ServerLatch()
        let lab = try OutboxLab { _ in [.await(isUpdated), .response(status: "503 Service Unavailable")] }
        let outbox = try await lab.open(clock)
        try await lab.lane(outbox).post("a", .text("x"))
        try await lab.server.requests.wait(for: "the request") { !$0.isEmpty }
        try await update(outbox)
        isUpdated.open()
        #expect(try await outbox.next(1).first?.end == .delivered)
        #expect(new.requests.value.count == 1)
        await outbox.shutdown()
    }

    /// The sender may choose a parcel just before a command changes the lane, and start it just after.
    @Test func `no attempt begins at the old destination once the new one is stored`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(clock, sends: false)
        try await lab.lane(outbox).post("a", .text("x"))
        let transactions = SendingTransactions(storage: outbox.storage)
        let lane = try #require(await outbox.storage.lanes().first)
        let parcel = try #require(
            await transactions.supply(of: lane, 1, besides: [], room: nil).parcels.first
        )
        try await update(outbox)
        await #expect(throws: SendingTransactions.NothingToSend.self) {
            try await withCheckedThrowingContinuation { continuation in
                transactions.mark(parcel, lane, mayBeProcessed: false, isExpensive: false) {
                    continuation.resume(with: $0)
                }
            }
        }
        #expect(try await outbox.items().map(\.state) == [.waiting])
        await outbox.shutdown()
    }
}
