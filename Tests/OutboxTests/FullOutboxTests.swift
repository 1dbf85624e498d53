import CommandLineLab
import DurableStore
import HTTPLab
import NetworkLab
import OutboxCore
import Testing

@testable import Outbox

/// What is dropped from an outbox that is full, and which outcomes are kept.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct FullOutboxTests {
    private let lab: OutboxLab

    init() throws { lab = try OutboxLab() }

    private func open() async throws -> Outbox {
        try await lab.open(.init(maximumBytes: 1_000, minimumFreeSpace: 0, sends: false))
    }

    /// Adds an item with a body of a size.
    private func add(_ size: Int, to lane: OutboxLane) async throws -> OutboxItem.ID {
        try await lane.post("a", .bytes(.init(repeating: 1, count: size)))
    }

    /// Adds an item that is refused, and expects that nothing was dropped for it.
    private func expectRefusal(of size: Int, in outbox: Outbox, keeping items: [OutboxItem.ID]) async throws {
        let error = await #expect(throws: OutboxError.self) { try await add(size, to: lab.lane(outbox)) }
        #expect(error?.code == .full)
        let (left, ended) = (try await outbox.items().map(\.id), try await outbox.statistics().ended)
        #expect(left == items && ended.isEmpty)
    }

    @Test func `no bulk item is dropped for an item that would not fit without all of them`() async throws {
        let outbox = try await open()
        let bulk = outbox.lane("bulk", to: lab.server.url, .init(importance: .bulk))
        let items = [try await add(600, to: lab.lane(outbox)), try await add(150, to: bulk)]
        try await expectRefusal(of: 350, in: outbox, keeping: items)
        await outbox.shutdown()
    }

    @Test func `no bulk item is dropped if one that can't be dropped takes the space`() async throws {
        let outbox = try await open()
        let bulk = outbox.lane("bulk", to: lab.server.url, .init(importance: .bulk))
        let batched = try await add(100, to: bulk)
        try await outbox.storage.store.write {
            try $0.run("UPDATE item SET batch = 7 WHERE id = ?", .integer(batched.rawValue))
        }
        let items = [batched, try await add(100, to: bulk), try await add(600, to: lab.lane(outbox))]
        try await expectRefusal(of: 250, in: outbox, keeping: items)
        await outbox.shutdown()
    }

    @Test func `no more bulk items are dropped than an item needs, the oldest of all lanes first`() async throws {
        let outbox = try await open()
        let lanes = ["x", "y"].map { outbox.lane($0, to: lab.server.url, .init(importance: .bulk)) }
        var bulk: [OutboxItem.ID] = []
        for number in 0..<4 { bulk.append(try await add(150, to: lanes[number % 2])) }
        let added = try await add(500, to: lab.lane(outbox))
        let left = try await outbox.items().map(\.id)
        #expect(left == [bulk[2], bulk[3], added])
        let dropped = try await outbox.next(2).map(\.id)
        #expect(dropped == [bulk[0], bulk[1]])
        await outbox.shutdown()
    }

    @Test func `outcomes that were acknowledged do not count towards those that are kept`() async throws {
        let outbox = try await lab.open(.init(minimumFreeSpace: 0, maximumOutcomes: 3, sends: false))
        let kept = try await cancelled(in: outbox)
        for _ in 1...5 {
            _ = try await cancelled(in: outbox)
            let last = try await outbox.storage.outcomes(after: 0, limit: 10).last
            try await last?.acknowledge()
        }
        let first = try await outbox.storage.outcomes(after: 0, limit: 10).map(\.id)
        #expect(first == [kept])
        var newest: [OutboxItem.ID] = []
        for _ in 1...3 { newest.append(try await cancelled(in: outbox)) }
        let last = try await outbox.storage.outcomes(after: 0, limit: 10).map(\.id)
        #expect(last == newest)
        let statistics = try await outbox.statistics()
        #expect(statistics.outcomes == 3)
        await outbox.shutdown()
    }

    /// The state after room was made for an item.
    private struct Room: Sendable {
        /// The limit by which the item is refused; nil if it fits.
        let limit: Admission.Limit?
        /// The number of items that were dropped so far.
        let dropped: Int
        /// The free space that is left, in bytes.
        let space: Int64
    }

    /// Makes room for items of 50,000 bytes in one transaction, while the outbox has three bulk items with files of 100,000
    /// bytes, and 20,000 bytes are free.
    ///
    /// - Parameters:
    ///   - count: The number of items for which room is made.
    ///   - body: The body of each.
    /// - Returns: The state after each.
    /// - Throws: The error of the outbox.
    private func makeRoom(_ count: Int, for body: StoredItem.Body) async throws -> [Room] {
        let outbox = try await lab.open(.init(minimumFreeSpace: 0, sends: false))
        let bulk = outbox.lane("bulk", to: lab.server.url, .init(importance: .bulk))
        for _ in 1...3 { _ = try await add(100_000, to: bulk) }
        let id = try await add(1, to: lab.lane(outbox))
        let admission = ItemAdmission(folder: lab.path, ending: outbox.storage.ending)
        let reading = outbox.storage.clock.read()
        let rooms = try await outbox.storage.store.write { database -> [Room] in
            let item = try database.first("SELECT \(StoredItem.columns) FROM item WHERE id = \(id)") { StoredItem($0) }
            var new = try #require(item)
            (new.body, new.size) = (body, 50_000)
            let context = BoxContext.of(database)
            context.changeFreeSpace(by: 20_000 - context.freeSpace(of: lab.path))
            var files: [String] = []
            return try (1...count).map { _ in
                let limit = try admission.makeRoom(for: new, .normal, reading, database, removing: &files)
                return Room(limit: limit, dropped: files.count, space: context.freeSpace(of: lab.path))
            }
        }
        await outbox.shutdown()
        return rooms
    }

    @Test func `within a transaction, the space of files that are dropped is there for further items`() async throws {
        let rooms = try await makeRoom(5, for: .bytes(.init(repeating: 1, count: 50_000)))
        // 20,000 bytes are left, and 100,000 with each file: enough for two.
        #expect(rooms.map { $0.limit == nil ? "\($0.dropped)" : "full" } == ["1", "1", "2", "2", "3"])
    }

    @Test func `nothing is dropped or refused for the space that a body's file has taken before`() async throws {
        let room = try #require(await makeRoom(1, for: .spooled("draft", nil)).first)
        #expect(room.limit == nil && room.dropped == 0 && room.space == 20_000)
    }

    @Test func `the limits that a program has set hold for programs and commands that set none`() async throws {
        let first = try await lab.open(.init(maximumItems: 10, minimumFreeSpace: 0, maximumOutcomes: 2, sends: false))
        await first.shutdown()
        let second = try await lab.open(OutboxLab.addsOnly)
        var newest: [OutboxItem.ID] = []
        for _ in 1...3 { newest.append(try await cancelled(in: second)) }
        #expect(try await second.storage.outcomes(after: 0, limit: 10).map(\.id) == newest.suffix(2))
        for _ in 1...9 { try await lab.lane(second).post("a") }
        await second.shutdown()
        let tool = ToolBinary.path + "-outbox"
        let added = try LabProcess.run(tool, ["add", "--box", lab.path, lab.server.url])
        #expect(added.code == 75 && added.errors.contains("too many items wait"), "\(added)")
        #expect(try LabProcess.run(tool, ["drop", "5", "--box", lab.path]).code == 0)
        let lines = try LabProcess.run(tool, ["outcomes", "--box", lab.path]).output.split(separator: "\n")
        #expect(lines.count == 2)
        // The last program that sets a limit sets it for all.
        let third = try await lab.open(.init(maximumItems: 20, sends: false))
        try await lab.lane(third).post("a")
        try await lab.lane(third).post("a")
        await third.shutdown()
        #expect(try LabProcess.run(tool, ["add", "--box", lab.path, lab.server.url]).code == 0)
    }

    /// Adds an item, and ends it.
    private func cancelled(in outbox: Outbox) async throws -> OutboxItem.ID {
        let id = try await lab.lane(outbox).post("a")
        try await outbox.cancel(id)
        return id
    }
}
