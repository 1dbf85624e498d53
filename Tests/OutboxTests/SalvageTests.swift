import DurableStore
import HTTPLab
import NetworkLab
import OutboxCore
import Testing

@testable import Outbox

/// The repair of a database: what it keeps besides the rows.
@Suite(.timeLimit(.minutes(2))) struct SalvageTests {
    @Test(arguments: [false, true])
    func `the numbers of items continue after a repair, although all items have ended`(
        areAcknowledged: Bool
    ) async throws {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let first = try await lab.open(clock)
        for number in 1...3 { try await lab.lane(first).post("\(number)", .text("x")) }
        while try await first.statistics().ended[.delivered] != 3 { try await Task.sleep(for: .milliseconds(2)) }
        if areAcknowledged { _ = try await first.next(3) }
        await first.shutdown()
        try BoxSalvage(files: BoxStorage.files(of: lab.path), at: clock.machine.read()).run()
        let second = try await lab.open(clock)
        let id = try await lab.lane(second).post("4", .text("x"))
        #expect(id.rawValue == 4)
        let outcome = try await second.storage.waitForEnd(of: id.rawValue)
        #expect(outcome.end == .delivered && outcome.reference == "4" && outcome.sequence == 4)
        await second.shutdown()
    }

    @Test func `items whose lane can't be read are kept in a paused lane, and go to no other destination`() async throws
    {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let first = try await lab.open(clock, sends: false)
        for number in 1...3 { try await lab.lane(first).post("\(number)", .text("x")) }
        try await first.storage.store.write { try $0.run("DELETE FROM lane") }
        await first.shutdown()
        try BoxSalvage(files: BoxStorage.files(of: lab.path), at: clock.machine.read()).run()
        let second = try await lab.open(clock)
        try await second.lane("other", to: lab.server.url + "/other").post("4", .text("x"))
        _ = try await second.storage.waitForEnd(of: 4)
        #expect(lab.server.requests.value.map(\.path) == ["/other/4"])
        let kept = try #require(try await second.storage.lanes().first { $0.name == "recovered-1" })
        #expect(kept.isPaused && kept.destination == "http://unknown.invalid")
        #expect(try await second.items(in: "recovered-1").map(\.reference) == ["1", "2", "3"])
        // The program knows where they belong.
        try await second.lane("recovered-1", to: lab.server.url + "/v1").post("5", .text("x"))
        try await second.storage.setPaused(false, lane: "recovered-1")
        for id in [1, 2, 3, 5] { _ = try await second.storage.waitForEnd(of: Int64(id)) }
        #expect(lab.server.requests.value.map(\.path).sorted() == ["/other/4", "/v1/1", "/v1/2", "/v1/3", "/v1/5"])
        await second.shutdown()
    }

    @Test(arguments: [true, false])
    func `items whose batch can't be read end, or are sent in another`(isSent: Bool) async throws {
        let isReached = Observed(false)
        let lab = try OutboxLab { _ in isReached.value ? [.response("done")] : [.reset] }
        let clock = LabClock()
        let options = LaneOptions(batch: .ndjson(items: 2, linger: .zero))
        // Both are in the batch that is sent first.
        let adding = try await lab.open(clock, sends: false)
        for number in 1...2 { try await lab.lane(adding, options).post("a", .text("\(number)")) }
        await adding.shutdown()
        let first = try await lab.open(clock)
        while try await first.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        await first.shutdown()
        let changing = try await lab.open(clock, sends: false)
        try await changing.storage.store.write { database in
            try database.run("DELETE FROM batch")
            if !isSent { try database.run("UPDATE item SET first_sent = NULL, sent_check = NULL") }
        }
        await changing.shutdown()
        try BoxSalvage(files: BoxStorage.files(of: lab.path), at: clock.machine.read()).run()
        isReached.update { $0 = true }
        clock.advance(by: .seconds(3_700))
        let second = try await lab.open(clock)
        let ends = try await second.next(2).map(\.end)
        #expect(ends == (isSent ? [.uncertain, .uncertain] : [.delivered, .delivered]))
        await second.shutdown()
    }
}
