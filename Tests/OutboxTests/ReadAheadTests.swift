import Glibc
import HTTPLab
import NetworkLab
import Outbox
import Testing

/// Items that are read before they can be sent: a change in between is noticed before their first byte.
@Suite(.timeLimit(.minutes(15))) struct ReadAheadTests {
    private func lab() throws -> OutboxLab {
        try OutboxLab { _ in [.custom { _ in usleep(5_000) }, .response("done")] }
    }

    /// A server that responds to the items from a number on once the latch is opened.
    private func lab(holdingFrom first: Int, _ latch: ServerLatch) throws -> OutboxLab {
        try OutboxLab { request in
            let number = Int(request.path.split(separator: "/").last ?? "") ?? 0
            return (number < first ? [] : [.await(latch)]) + [.response("done")]
        }
    }

    private func add(_ count: Int, to lab: OutboxLab) async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(outbox, .init(order: .unordered(width: 8)))
        for number in 1...count { try await lane.post("\(number)") }
        await outbox.shutdown()
    }

    @Test(arguments: [BoxStorage.Command.hold, .cancel])
    func `an item that is held or cancelled while those before it are sent is not sent`(
        command: BoxStorage.Command
    ) async throws {
        let latch = try ServerLatch()
        let lab = try lab(holdingFrom: 151, latch)
        try await add(300, to: lab)
        let outbox = try await lab.open()
        // By then up to 128 items are read ahead, these among them.
        while lab.server.requests.value.count < 150 { try await Task.sleep(for: .milliseconds(1)) }
        for id in 200...210 { try await outbox.storage.perform(command, on: Int64(id)) }
        latch.open()
        while try await outbox.statistics().ended[.delivered] != 289 { try await Task.sleep(for: .milliseconds(5)) }
        let paths = lab.server.requests.value.map(\.path)
        #expect(Set(paths).count == 289 && paths.count == 289)
        #expect(!(200...210).contains { paths.contains("/v1/\($0)") })
        await outbox.shutdown()
    }

    @Test func `a lane that is paused while its items are sent sends no further ones`() async throws {
        let latch = try ServerLatch()
        let lab = try lab(holdingFrom: 61, latch)
        try await add(300, to: lab)
        let outbox = try await lab.open()
        while lab.server.requests.value.count < 60 { try await Task.sleep(for: .milliseconds(1)) }
        try await outbox.storage.setPaused(true, lane: "readings")
        latch.open()
        // Those whose first byte had left are finished.
        while try await outbox.items().contains(where: { $0.state == .sending }) {
            try await Task.sleep(for: .milliseconds(1))
        }
        let count = lab.server.requests.value.count
        for _ in 0..<20 { try await outbox.wake() }
        #expect(lab.server.requests.value.count == count && count < 300)
        try await outbox.storage.setPaused(false, lane: "readings")
        while try await outbox.statistics().ended[.delivered] != 300 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(lab.server.requests.value.count == 300)
        await outbox.shutdown()
    }

    @Test func `the numbers of items and outcomes are those of the tables`() async throws {
        let lab = try lab()
        try await add(40, to: lab)
        let outbox = try await lab.open()
        _ = try await outbox.next(5)
        while try await !outbox.items().isEmpty { try await Task.sleep(for: .milliseconds(2)) }
        let statistics = try await outbox.statistics()
        #expect(statistics.items == 0 && statistics.bytes == 0 && statistics.ended == [.delivered: 40])
        #expect(try await outbox.storage.outcomes(after: 0, limit: 100).count == statistics.outcomes)
        #expect(statistics.outcomes == 35)
        await outbox.shutdown()
    }
}
