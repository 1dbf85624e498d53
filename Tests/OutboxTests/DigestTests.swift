import DurableStore
import Foundation
import HTTPLab
import NetworkClient
import NetworkLab
import Outbox
import Testing

/// Rows and bodies that changed on disk are found before they are sent.
@Suite(.timeLimit(.minutes(10))) struct DigestTests {
    @Test(arguments: [
        ItemOptions(key: .custom("k"), lifetime: .seconds(60)), ItemOptions(key: .custom("k"), lifetime: nil),
        ItemOptions(key: .custom("k"), userInfo: ["drive": "8"]), ItemOptions(key: .custom("k"), notBefore: 5),
    ])
    func `other times or values with the same key are another request`(options: ItemOptions) async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(outbox)
        let first = try await lane.post("a", .text("x"), options: .init(key: .custom("k")))
        #expect(try await lane.post("a", .text("x"), options: .init(key: .custom("k"))) == first)
        let error = await #expect(throws: OutboxError.self) { try await lane.post("a", .text("x"), options: options) }
        #expect(error?.code == .keyInUse)
        #expect(error?.reason.contains("the key 'k' was already used in lane 'readings', for item \(first)") == true)
        await outbox.shutdown()
    }

    @Test(arguments: [OutboxBody.FileHandling.move, .copy])
    func `a file with the same key and different contents is a different request`(
        handling: OutboxBody.FileHandling
    ) async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(outbox)
        let options = ItemOptions(key: .custom("k"))
        let first = try await lane.put("a", .file(try lab.folder.write("f", "one"), handling), options: options)
        #expect(try await lane.put("a", .file(try lab.folder.write("f", "one"), handling), options: options) == first)
        let other = try lab.folder.write("f", "two")
        let error = await #expect(throws: OutboxError.self) {
            try await lane.put("a", .file(other, handling), options: options)
        }
        #expect(error?.code == .keyInUse)
        await outbox.shutdown()
    }

    @Test func `a file of the spool that has changed on disk is not sent`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        try await lab.lane(adding).put("a", .file(try lab.folder.write("f", "contents"), .move))
        await adding.shutdown()
        let spool = "\(lab.path)/spool"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: spool).first)
        // In place, as a disk that decays: the size and the inode stay.
        let file = try #require(FileHandle(forUpdatingAtPath: "\(spool)/\(name)"))
        try file.write(contentsOf: Data("CONTENTS".utf8))
        try file.close()
        let outcome = try #require(await lab.open().next(1).first)
        #expect(outcome.end == .refused && outcome.reason.contains("its contents have changed"))
        #expect(lab.server.requests.value.isEmpty)
    }

    @Test(arguments: [
        "expires = expires - 1", "expires = NULL", "lifetime = 1", "first_sent = 5", "sent_check = 5",
        "user_info = '{\"a\":\"b\"}'", "added = added + 1", "expires = 1",
    ])
    func `a row whose numbers or values have changed ends as damaged`(change: String) async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        try await lab.lane(adding).post("a", .text("x"))
        try await adding.storage.store.write { try $0.run("UPDATE item SET \(change)") }
        await adding.shutdown()
        let outcome = try #require(await lab.open().next(1).first)
        #expect(outcome.end == .damaged)
        #expect(lab.server.requests.value.isEmpty)
    }

    @Test func `items of the first version of the schema are sent`() async throws {
        let lab = try OutboxLab()
        let spool = "\(lab.path)/spool"
        try FileManager.default.createDirectory(atPath: spool, withIntermediateDirectories: true)
        try Data("contents".utf8).write(to: .init(filePath: "\(spool)/f"))
        let database = try Database(at: "\(lab.path)/\(BoxSchema.fileName)")
        try database.migrate(Array(BoxSchema.migrations.prefix(1)))
        try database.execute(
            """
            INSERT INTO lane (id, name, destination, options, class, priority)
            VALUES (1, 'l', '\(lab.server.url)', '', 1, 0);
            INSERT INTO item (lane, method, reference, fields, digest, file, file_kind, size, user_info, added, added_wall,
                first_sent)
            VALUES (1, 'PUT', 'a', '{}', x'00', 'f', 0, 8, '{}', 0, 0, 0);
            """
        )
        #expect(try await lab.open().next(1).first?.end == .delivered)
        #expect(lab.server.requests.value.map(\.body) == [Array("contents".utf8)])
    }
}
