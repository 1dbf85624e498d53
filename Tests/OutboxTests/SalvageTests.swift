import DurableStore
import Foundation
import HTTPLab
import NetworkLab
import OutboxCore
import Testing

@testable import Outbox

/// The repair of a database: what it keeps besides the rows.
@Suite(.timeLimit(.minutes(5))) struct SalvageTests {
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

    @Test func `a lane without items that can't be read is declared again by the program that adds to it`() async throws
    {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let outbox = try await lab.open(clock, sends: false)
        let lane = lab.lane(outbox)
        try await outbox.cancel(lane.post("1"))
        try await outbox.storage.store.write { try $0.run("DELETE FROM lane") }
        try await outbox.lane("other", to: lab.server.url + "/other").post("2")
        try await lane.post("3")
        #expect(try await outbox.items(in: "other").map(\.reference) == ["2"])
        #expect(try await outbox.items(in: "readings").map(\.reference) == ["3"])
        await outbox.shutdown()
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

    @Test func `a lane's pause ends after a repair that has lost the clock`() async throws {
        let isReached = Observed(false)
        let lab = try OutboxLab { _ in
            [isReached.value ? .response("done") : .response(status: "503 Service Unavailable")]
        }
        let clock = LabClock()
        let adding = try await lab.open(clock, sends: false)
        // The clock begins with the first item.
        try await adding.cancel(lab.lane(adding).post("1"))
        clock.advance(by: .seconds(30 * 86_400))
        try await lab.lane(adding).post("2", .text("x"))
        await adding.shutdown()
        let first = try await lab.open(clock)
        while try await first.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        await first.shutdown()
        try Database(at: "\(lab.path)/outbox.db").execute("DELETE FROM clock")
        try BoxSalvage(files: BoxStorage.files(of: lab.path), at: clock.machine.read()).run()
        isReached.update { $0 = true }
        let second = try await lab.open(clock)
        #expect(try await second.storage.waitForEnd(of: 2).end == .delivered)
        await second.shutdown()
    }

    @Test func `outcomes are kept besides those of items that can't be read, which follow them`() async throws {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let first = try await lab.open(clock, sends: false)
        for number in 1...3 { try await first.cancel(lab.lane(first).post("\(number)", .text("x"))) }
        try await lab.lane(first).post("lost", .bytes(.init(repeating: 0xAB, count: 60_000)))
        await first.shutdown()
        try DamagedOutbox(at: lab.path).breakBody(of: 0xAB)
        try BoxSalvage(files: BoxStorage.files(of: lab.path), at: clock.machine.read()).run()
        let second = try await lab.open(clock, sends: false)
        let outcomes = try await second.storage.outcomes(after: 0, limit: 10)
        #expect(outcomes.map(\.end) == [.cancelled, .cancelled, .cancelled, .damaged])
        #expect(outcomes.map(\.sequence) == [1, 2, 3, 4] && outcomes.map(\.id.rawValue) == [1, 2, 3, 4])
        await second.shutdown()
    }
}

/// A database whose pages are all in its file, where they can be overwritten.
struct DamagedOutbox {
    private let path: String
    private static let pageSize = 4_096

    init(at folder: String) throws {
        path = "\(folder)/outbox.db"
        try Database(at: path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Overwrites the pages of a body, which has a byte of its own, where they name the next one.
    func breakBody(of byte: UInt8) throws {
        var contents = [UInt8](try Data(contentsOf: .init(filePath: path)))
        for start in stride(from: 0, to: contents.count, by: Self.pageSize) {
            let page = contents[start..<start + Self.pageSize]
            guard page.dropFirst(4).allSatisfy({ $0 == byte }) else { continue }
            contents.replaceSubrange(start..<start + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
        }
        try Data(contents).write(to: .init(filePath: path))
    }

    /// Overwrites a table that an outbox does without, and has the next process look for damage.
    func breakOrigins() throws {
        let root = try Database(at: path).first("SELECT rootpage FROM sqlite_schema WHERE name = 'origin'") {
            Int($0.integer(0))
        }
        let start = ((root ?? 0) - 1) * Self.pageSize
        var contents = [UInt8](try Data(contentsOf: .init(filePath: path)))
        contents.replaceSubrange(start..<start + Self.pageSize, with: repeatElement(0x5A, count: Self.pageSize))
        try Data(contents).write(to: .init(filePath: path))
        let marker = URL(filePath: path).deletingLastPathComponent().appending(path: "in-use")
        try Data("another boot".utf8).write(to: marker)
    }
}
