import CommandLineLab
import DurableStore
import Foundation
import Glibc
import HTTPLab
import Locking
import NetworkClient
import NetworkLab
import Outbox
import OutboxCore
import Testing

/// The export of items, and their import.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct ArchiveTests {
    private let lab: OutboxLab
    /// The outbox into which is imported.
    private var other: String { lab.path + "-2" }
    private var archive: String { lab.folder.path + "/archive" }

    init() throws { lab = try OutboxLab() }

    private func run(_ arguments: String...) throws -> LabProcess.Outcome {
        try LabProcess.run(ToolBinary.path + "-outbox", arguments)
    }

    private func export() throws { #expect(try run("export", "--box", lab.path, "-o", archive).code == 0) }

    @Test func `items are imported once, with their bodies, keys, fields and rules`() async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let large = [UInt8](repeating: 7, count: 200_000)
        let rules = LaneOptions(order: .ordered(isStrict: true), keyField: "X-Key")
        let lane = lab.lane(outbox, rules)
        let options = ItemOptions(key: .custom("k"), headers: [.accept: "a/b"], userInfo: ["drive": "7"])
        try await lane.put("large", .bytes(large), options: options)
        try await lane.post("small", .text("s"))
        try await lane.delete("none")
        await outbox.shutdown()
        try export()
        #expect(try run("import", "--box", other, archive).output == "3 items added\n")
        #expect(try run("import", "--box", other, archive).output == "0 items added, 3 were there already\n")
        #expect(try run("run", "--once", "--box", other).code == 0)
        #expect(try run("import", "--box", other, archive).output == "0 items added, 3 were there already\n")
        let requests = lab.server.requests.value
        #expect(requests.map(\.path) == ["/v1/large", "/v1/small", "/v1/none"])
        #expect(requests.first?.body == large && requests.first?["X-Key"] == #""k""#)
        #expect(requests.first?["Accept"] == "a/b")
        #expect(try run("outcomes", "--json", "--box", other).output.contains(#""userInfo":{"drive":"7"}"#))
        // What was imported keeps its identity in a further archive.
        #expect(try run("import", "--box", lab.path, archive).output == "0 items added, 3 were there already\n")
    }

    @Test func `the outbox that wrote an archive adds none of its items while their outcomes are kept`() async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        for number in 1...2 { try await lab.lane(outbox).post("\(number)", .text("x"), options: .init(key: .none)) }
        await outbox.shutdown()
        try export()
        let unchanged = "0 items added, 2 were there already\n"
        #expect(try run("import", "--box", lab.path, archive).output == unchanged)
        #expect(try run("drop", "1", "--box", lab.path).code == 0)
        #expect(try run("import", "--box", lab.path, archive).output == unchanged)
        #expect(try run("run", "--once", "--box", lab.path).code == 0)
        #expect(try run("import", "--box", lab.path, archive).output == unchanged)
        #expect(lab.server.requests.value.map(\.path) == ["/v1/2"])
        #expect(try run("outcomes", "--acknowledge", "--box", lab.path).code == 0)
        #expect(try run("import", "--box", lab.path, archive).output == "2 items added\n")
        // Another outbox has other items with these numbers.
        #expect(try run("add", "--box", other, "--data", "x", lab.server.url).output == "1\n")
        #expect(try run("import", "--box", other, archive).output == "2 items added\n")
    }

    @Test func `an archive that is truncated or changed is an error, and each whole item before that is added`() throws
    {
        for number in 1...3 {
            #expect(
                try run("add", "--box", lab.path, "--data", "[\(number)]", lab.server.url).output == "\(number)\n"
            )
        }
        try export()
        let bytes = try Data(contentsOf: URL(filePath: archive))
        try bytes.dropLast(100).write(to: URL(filePath: archive))
        let truncated = try run("import", "--box", other, archive)
        #expect(truncated.code == 65 && truncated.errors.contains("item 3 is truncated"), "\(truncated)")
        var changed = bytes
        let body = try #require(bytes.firstRange(of: Data("[3]".utf8)))
        changed[body.lowerBound + 1] = UInt8(ascii: "4")
        try changed.write(to: URL(filePath: archive))
        let damaged = try run("import", "--box", other, archive)
        #expect(damaged.code == 65 && damaged.errors.contains("item 3 is damaged"), "\(damaged)")
        try bytes.write(to: URL(filePath: archive))
        #expect(try run("import", "--box", other, archive).output == "1 item added, 2 were there already\n")
        let text = try lab.folder.write("text", Array("something else".utf8))
        let none = try run("import", "--box", other, text)
        #expect(none.code == 65 && none.errors.contains("is no archive of an outbox"), "\(none)")
    }

    @Test func `what is being sent is not exported`() async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        for number in 1...2 { try await lab.lane(outbox).post("\(number)") }
        try await outbox.storage.store.write { try $0.run("UPDATE item SET state = 1 WHERE id = 1") }
        await outbox.shutdown()
        let outcome = try run("export", "--box", lab.path, "-o", archive)
        #expect(outcome.code == 0 && outcome.errors == "netwatch: item 1 is not exported: it is being sent\n")
        #expect(try run("import", "--box", other, archive).output == "1 item added\n")
    }

    @Test func `items that are damaged, or whose files are lost or changed, are not exported; others are`() async throws
    {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(outbox)
        try await lane.post("row", .text("a"))
        for name in ["lost", "changed"] { try await lane.put(name, .bytes(.init(repeating: 7, count: 100_000))) }
        let file = try lab.folder.write("file", Array("file".utf8))
        try await lane.put("referenced", .file(file, .reference))
        try await lane.post("good", .text("b"))
        let files = try await outbox.storage.store.write { database in
            try database.run("UPDATE item SET reference = 'other' WHERE id = 1")
            return try database.query("SELECT file FROM item WHERE file_kind = 0 ORDER BY id") { $0.text(0) ?? "" }
        }
        await outbox.shutdown()
        try FileManager.default.removeItem(atPath: "\(lab.path)/spool/\(files[0])")
        try Data(repeating: 8, count: 100_000).write(to: .init(filePath: "\(lab.path)/spool/\(files[1])"))
        try FileManager.default.removeItem(atPath: file)
        let outcome = try run("export", "--box", lab.path, "-o", archive)
        let lines = outcome.errors.split(separator: "\n")
        #expect(outcome.code == 0 && lines.count == 4, "\(outcome)")
        for (id, line) in zip(1..., lines) {
            #expect(line.hasPrefix("netwatch: item \(id) is not exported: "), "\(line)")
        }
        #expect(try run("import", "--box", other, archive).output == "1 item added\n")
        #expect(try run("list", "--box", other).output.contains("POST good"))
    }

    @Test func `an item whose values are too large for an archive is not exported; others are`() async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let options = ItemOptions(userInfo: ["a": String(repeating: "x", count: 1 << 20)])
        try await lab.lane(outbox).post("large", options: options)
        try await lab.lane(outbox).post("good")
        await outbox.shutdown()
        let outcome = try run("export", "--box", lab.path, "-o", archive)
        #expect(outcome.code == 0 && outcome.errors.hasPrefix("netwatch: item 1 is not exported: "), "\(outcome)")
        #expect(try run("import", "--box", other, archive).output == "1 item added\n")
    }

    /// Changes the only item of the archive, whose digest is then that of the changed one.
    private func change(_ change: (inout ArchivedItem) throws -> Void) throws {
        let source = open(archive, O_RDONLY | O_CLOEXEC)
        let reader = try ArchiveReader(of: source, named: archive)
        var item = try #require(try reader.next())
        close(source)
        try change(&item)
        let target = open(archive, O_WRONLY | O_TRUNC | O_CLOEXEC)
        let writer = try ArchiveWriter(to: target, named: archive)
        try writer.write(item) { write in Array("[1]".utf8).withUnsafeBytes(write) }
        try writer.end()
        close(target)
    }

    @Test func `a batch of more items or bytes than can be sent is refused when it is imported`() async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let rules = LaneOptions(batch: .ndjson(items: 2, bytes: 1_001, linger: .zero))
        try await lab.lane(outbox, rules).post("a", .text("[1]"))
        await outbox.shutdown()
        try export()
        let changes = [
            (#""items":2"#, #""items":9223372036854775807"#), (#""items":2"#, #""items":0"#),
            (#""bytes":1001"#, #""bytes":9223372036854775807"#), (#""linger":0"#, #""linger":-1"#),
        ]
        for (old, new) in changes {
            try change { $0.rules = $0.rules.replacing(old, with: new) }
            let outcome = try run("import", "--box", other, archive)
            #expect(outcome.code == 64 && outcome.errors.contains("lane 'readings': a batch"), "\(outcome)")
            try change { $0.rules = $0.rules.replacing(new, with: old) }
        }
        #expect(try run("import", "--box", other, archive).output == "1 item added\n")
    }

    @Test func `times and numbers of any size in an archive are imported, exported and sent`() async throws {
        #expect(try run("add", "--box", lab.path, "--data", "[1]", lab.server.url).code == 0)
        try export()
        try change {
            ($0.isHeld, $0.sinceFirstAttempt, $0.attempts, $0.written) = (true, .max, .max, .min)
            ($0.lifetime, $0.added) = (.max, .min)
        }
        #expect(try run("import", "--box", other, archive).output == "1 item added\n")
        #expect(try run("list", "--box", other).code == 0)
        let outcome = try run("export", "--box", other, "-o", archive + "-2")
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(try run("release", "1", "--box", other).code == 0)
        #expect(try run("run", "--once", "--box", other).code == 0)
        #expect(try run("show", "-9223372036854775808", "--box", other).code != 132)
    }

    @Test func `numbers at the end of the range in the database end no sender`() async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let rules = LaneOptions(batch: .ndjson(items: 2, bytes: 1_001, linger: .zero))
        for _ in 1...2 { try await lab.lane(outbox, rules).post("a", .text("[1]")) }
        try await outbox.storage.store.write { database in
            try database.run(
                "UPDATE lane SET options = replace(options, '\"items\":2', '\"items\":9223372036854775807')"
            )
            try database.run("UPDATE clock SET since_boot = -9223372036854775807, time = -9223372036854775807")
            try database.run("UPDATE item SET attempts = 9223372036854775807, size = -9223372036854775807 - id % 2")
            try database.run("UPDATE counter SET count = 9223372036854775807")
        }
        await outbox.shutdown()
        #expect(try run("list", "--box", lab.path).code == 0)
        let outcome = try run("run", "--once", "--box", lab.path)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(lab.server.requests.value.count == 1)
    }

    @Test func `an item's lifetime and the age of its key continue in the other outbox`() async throws {
        let (first, second) = (TestClock(), TestClock(wall: 1_800_000_060))
        let source = try BoxStorage(at: lab.path, clock: first.clock)
        let lane = OutboxLane(name: "l", destination: lab.server.url, options: .init(), storage: source)
        let id = try await lane.request(.post, "a", .text("a"), .init(lifetime: .seconds(1_000)))
        first.advance(by: 100)
        try await source.store.write { try $0.run("UPDATE item SET first_sent = 0, sent_check = ~0 WHERE id = \(id)") }
        source.store.close()
        let file = try archiveFile()
        defer { close(file) }
        let copy = try StoreCopy(of: BoxStorage.files(of: lab.path))
        let writer = try ArchiveWriter(to: file, named: "archive")
        _ = try BoxExport(copy.database, folder: lab.path, at: first.clock.read()).write(lane: nil, ids: [], to: writer)
        lseek(file, 0, SEEK_SET)
        let target = try BoxStorage(at: other, clock: second.clock)
        let result = try await BoxImport(into: target).read(ArchiveReader(of: file, named: "archive"))
        #expect(result.added == 1)
        let times = try await target.store.read { database in
            try database.first("SELECT expires, first_sent FROM item") { ($0.integer(0), $0.integer(1)) }
        }
        target.store.close()
        // 900 s are left. It was first sent 100 s before the archive was written, which is 60 s ago (less the 100).
        let (expires, firstSent) = try #require(times)
        #expect(expires / 1_000_000_000 == 900)
        #expect(firstSent <= -100_000_000_000)
    }

    private func archiveFile() throws -> Int32 {
        let file = Glibc.open(archive, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        return try #require(file >= 0 ? file : nil)
    }

    @Test func `errors of the archive's file have their exit status`() throws {
        #expect(try run("add", "--box", lab.path, lab.server.url).code == 0)
        try export()
        #expect(try run("export", "--box", lab.path, "-o", archive).code == 73)
        #expect(try run("export", "--box", lab.path, "-o", "/proc/x", "7").code == 73)
        #expect(try run("export", "--box", lab.path, "-o", archive + "-2", "7").code == 66)
        #expect(FileManager.default.fileExists(atPath: archive + "-2") == false)
        #expect(try run("export", "--box", lab.path, "-o", archive + "-2", "--lane", "none").code == 66)
        #expect(try run("import", "--box", lab.path, "/nonexistent").code == 66)
    }
}

/// A clock that the test advances.
private final class TestClock: Sendable {
    private let seconds = Lock(0)
    private let wall: Int64

    init(wall: Int64 = 1_800_000_000) { self.wall = wall }

    func advance(by seconds: Int) { self.seconds.withLock { $0 += seconds } }

    var clock: MachineClock {
        .init { [self] in
            let elapsed = Int64(seconds.withLock { $0 }) * 1_000_000_000
            return .init(
                bootIdentifier: "boot",
                sinceBoot: elapsed,
                wall: wall * 1_000_000_000 + elapsed,
                isSynchronized: true
            )
        }
    }
}
