import DurableStore
import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// A store with one table.
private struct Box {
    let folder: LabFolder
    static let schema = "CREATE TABLE entry (id INTEGER PRIMARY KEY, text TEXT UNIQUE, bytes BLOB)"

    init() throws { folder = try LabFolder() }

    var files: DurableStore.Files { .init(folder: folder.path, name: "entries.db") }

    func open(
        boot: String = "boot-1",
        migrations: [String] = [schema],
        repair: (@Sendable (DurableStore.Files) throws -> Void)? = nil
    ) throws(StoreError) -> DurableStore {
        var options = DurableStore.Options(migrations: migrations)
        options.repair = repair
        return try DurableStore(files, options, bootIdentifier: boot)
    }
}

private func add(_ text: String, to store: DurableStore) async throws {
    try await store.write { try $0.run("INSERT INTO entry (text) VALUES (?)", .text(text)) }
}

private func texts(in store: DurableStore) async throws -> [String] {
    try await store.read { try $0.query("SELECT text FROM entry ORDER BY id") { $0.text(0) ?? "" } }
}

/// The store: group commits, several processes, damage.
@Suite(.timeLimit(.minutes(10))) struct DurableStoreTests {
    /// Kept during a test: its folder is removed with it.
    private let box: Box

    init() throws { box = try Box() }

    @Test func `integers that a column cannot have are the nearest that it can`() {
        #expect(SQLValue(UInt64.max) == .integer(.max))
        #expect(SQLValue(UInt64(7)) == .integer(7))
    }

    @Test func `what was written is there after the store is opened again`() async throws {
        let store = try box.open()
        try await add("a", to: store)
        store.close()
        #expect(try await texts(in: box.open()) == ["a"])
    }

    @Test func `the folder may be a symbolic link, as a state directory is, and the file may not`() async throws {
        let link = box.folder.path + "-link"
        #expect(symlink(box.folder.path, link) == 0)
        defer { unlink(link) }
        let linked = DurableStore.Files(folder: link, name: "entries.db")
        let store = try DurableStore(linked, .init(migrations: [Box.schema]), bootIdentifier: "boot-1")
        try await add("a", to: store)
        store.close()
        #expect(try await texts(in: box.open()) == ["a"])
        #expect(symlink(box.folder.path + "/entries.db", box.folder.path + "/link.db") == 0)
        let file = DurableStore.Files(folder: box.folder.path, name: "link.db")
        #expect(throws: StoreError.self) {
            try DurableStore(file, .init(migrations: [Box.schema]), bootIdentifier: "boot-1")
        }
    }

    @Test func `values of each kind are read as they were written`() async throws {
        let store = try box.open()
        try await store.write { database in
            try database.run("INSERT INTO entry VALUES (?, ?, ?)", .integer(.max), "ä\0b", .blob([0, 255]))
            try database.run("INSERT INTO entry VALUES (?, ?, ?)", 2, nil, .blob([]))
        }
        let rows = try await store.read { database in
            try database.query("SELECT * FROM entry ORDER BY id DESC") { row in
                "\(row.integer(0)) \(row.text(1)?.utf8.count ?? -1) \(row.blob(2) ?? [1])"
            }
        }
        #expect(rows == ["\(Int64.max) 4 [0, 255]", "2 -1 []"])
    }

    @Test func `the error of one write undoes its changes, and none of the others`() async throws {
        let store = try box.open()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        try await store.write { database in
                            try database.run("INSERT INTO entry (text) VALUES (?)", .text("\(number)"))
                            if number % 3 == 0 {
                                try database.run("INSERT INTO entry (text) VALUES (?)", .text("\(number)"))
                            }
                        }
                        return number % 3 != 0
                    } catch let error as StoreError {
                        return error.code == .refused && number % 3 == 0
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(try await texts(in: store).count == 200 - 67)
    }

    @Test func `the error of a write that is alone undoes its changes, and the next is stored`() async throws {
        let store = try box.open()
        let error = await #expect(throws: StoreError.self) {
            try await store.write { database in
                try database.run("INSERT INTO entry (text) VALUES ('twice')")
                try database.run("INSERT INTO entry (text) VALUES ('twice')")
            }
        }
        #expect(error?.code == .refused)
        try await add("after", to: store)
        #expect(try await texts(in: store) == ["after"])
    }

    @Test func `two stores of one folder write to it in turns`() async throws {
        let stores = [try box.open(), try box.open()]
        try await withThrowingTaskGroup { group in
            for number in 0..<200 { group.addTask { try await add("\(number)", to: stores[number % 2]) } }
            try await group.waitForAll()
        }
        #expect(try await texts(in: stores[0]).count == 200)
    }

    @Test func `a write to a closed store fails`() async throws {
        let store = try box.open()
        store.close()
        let error = await #expect(throws: StoreError.self) { try await add("a", to: store) }
        #expect(error?.code == .closed)
    }

    @Test func `the schema is brought to the latest version, and a later one is refused`() async throws {
        let first = try box.open()
        try await add("a", to: first)
        first.close()
        let later = [Box.schema, "ALTER TABLE entry ADD COLUMN more TEXT"]
        let second = try box.open(migrations: later)
        #expect(try await second.read { try $0.query("SELECT more FROM entry") { $0.isNull(0) } } == [true])
        second.close()
        let error = #expect(throws: StoreError.self) { try box.open() }
        #expect(error?.code == .newerSchema)
        #expect(error?.description.contains("entries.db: the schema has version 2, and this program knows 1") == true)
    }

    @Test func `a file that is no database is damaged, and repaired where that is possible`() async throws {
        try box.folder.write("entries.db", String(repeating: "no database ", count: 1_000))
        let error = #expect(throws: StoreError.self) { try box.open() }
        #expect(error?.code == .damaged)
        let store = try box.open { try FileManager.default.removeItem(atPath: $0.database) }
        try await add("a", to: store)
    }

    @Test func `damage that is found while the store is open is repaired, and the write is stored`() async throws {
        var options = DurableStore.Options(migrations: [Box.schema])
        options.checkpointSize = 0
        let first = try DurableStore(box.files, options, bootIdentifier: "boot-1")
        let text = String(repeating: "x", count: 1_000)
        for number in 0..<30 { try await add(text + "\(number)", to: first) }
        first.close()
        try FileManager.default.removeItem(atPath: box.files.database + "-wal")
        let file = try #require(FileHandle(forUpdatingAtPath: box.files.database))
        let size = try file.seekToEnd()
        try file.seek(toOffset: 4_096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: Int(size) - 4_096))
        try file.close()
        options.repairsWhileOpen = true
        options.repair = { files in
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: files.database + suffix) }
        }
        let second = try DurableStore(box.files, options, bootIdentifier: "boot-1")
        try await add("after", to: second)
        #expect(try await texts(in: second) == ["after"])
    }

    @Test func `damage is looked for after an unclean boot`() async throws {
        let store = try box.open(boot: "boot-1")
        for number in 0..<2_000 {
            store.writeLater { try $0.run("INSERT INTO entry (text) VALUES (?)", .text("\(number)")) }
        }
        try await add("last", to: store)
        // The store stays open, as at a power failure: its marker is left behind.
        let copy = try LabFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: box.folder.path) {
            try FileManager.default.copyItem(atPath: "\(box.folder.path)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        let files = DurableStore.Files(folder: copy.path, name: "entries.db")
        let options = DurableStore.Options(migrations: [Box.schema])
        let sound = try DurableStore(files, options, bootIdentifier: "boot-2")
        #expect(try await texts(in: sound).count == 2_001)
    }

    @Test(arguments: 0...3)
    func `a repair that a crash has interrupted is completed, or begins again`(step: Int) async throws {
        let (folder, database) = (box.folder.path, box.files.database)
        let repaired = try Box()
        let source = try repaired.open()
        try await add("repaired", to: source)
        source.close()
        let single = "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE"
        try Database(at: repaired.files.database).execute(single)
        let damaged = try box.open()
        try await add("damaged", to: damaged)
        damaged.close()
        // What is there after each step: the unfinished file, the finished one, the log aside, the database aside.
        let name = step == 0 ? ".repair" : ".repaired"
        try FileManager.default.copyItem(atPath: repaired.files.database, toPath: database + name)
        if step > 1 {
            #expect(mkdir("\(folder)/damaged-1", 0o700) == 0)
            #expect(rename(database + "-wal", "\(folder)/damaged-1/entries.db-wal") == 0)
        }
        if step > 2 { #expect(rename(database, "\(folder)/damaged-1/entries.db") == 0) }
        let store = try box.open()
        #expect(try await texts(in: store) == [step == 0 ? "damaged" : "repaired"])
        store.close()
        let isAside = ["", "-wal"].map { access("\(folder)/damaged-1/entries.db\($0)", F_OK) == 0 }
        #expect(isAside == (step == 0 ? [false, false] : [true, true]))
        #expect(access("\(folder)/damaged-2", F_OK) != 0 && access(database + ".repaired", F_OK) != 0)
        #expect(try await texts(in: box.open()) == [step == 0 ? "damaged" : "repaired"])
    }

    @Test func `damage is looked for again if it could not be repaired`() async throws {
        let store = try box.open(boot: "boot-1")
        try await add("a", to: store)
        store.close()
        try Database(at: box.files.database).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try #require(FileHandle(forUpdatingAtPath: box.files.database))
        try file.seek(toOffset: 4_096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 4_096))
        try file.close()
        try box.folder.write("in-use", "another boot")
        for _ in 1...2 {
            let error = #expect(throws: StoreError.self) { try box.open(boot: "boot-2") }
            #expect(error?.code == .damaged)
        }
    }

    @Test func `a copy in memory has what is only in the write-ahead log`() async throws {
        let store = try box.open()
        try await add("a", to: store)
        store.close()
        let copy = try StoreCopy(of: box.files)
        #expect(try copy.database.query("SELECT text FROM entry") { $0.text(0) } == ["a"])
    }

    @Test func `commits of another store are noticed`() async throws {
        let store = try box.open()
        let other = try box.open()
        let changes = LabInbox<Void>()
        let watch = try ChangeWatch(box.files) { changes.put(()) }
        try await add("a", to: other)
        try changes.wait(for: "the change", until: { !$0.isEmpty })
        watch.cancel()
        store.close()
    }

    @Test func `no commit after a watch was created goes unnoticed`() throws {
        let lock = try FileLock(at: box.files.commitLock)
        for _ in 0..<100 {
            let changes = LabInbox<Void>()
            let watch = try ChangeWatch(box.files) { changes.put(()) }
            defer { watch.cancel() }
            // As a commit does; it takes less time than the start of a thread.
            try lock.write(" ")
            try changes.wait(for: "the change", until: { !$0.isEmpty })
        }
    }

    @Test func `a commit whose signal can't be written is noticed`() throws {
        _ = try FileLock(at: box.files.commitLock)
        let changes = LabInbox<Void>()
        let watch = try ChangeWatch(box.files) { changes.put(()) }
        defer { watch.cancel() }
        // Opened for reading: writing to it fails, as on a full disk that copies on writing.
        try FileLock(at: box.files.commitLock, creates: false).touch()
        try changes.wait(for: "the change", until: { !$0.isEmpty })
    }

    @Test func `a lock excludes others until it is released`() throws {
        let folder = try LabFolder()
        let (one, two) = (try FileLock(at: "\(folder.path)/lock"), try FileLock(at: "\(folder.path)/lock"))
        #expect(try one.tryLock())
        #expect(try !two.tryLock())
        one.unlock()
        #expect(try two.tryLock())
    }

    @Test func `a missing folder is named, with what to do`() throws {
        let files = DurableStore.Files(folder: "/nonexistent/outbox", name: "entries.db")
        let error = #expect(throws: StoreError.self) {
            try DurableStore(files, .init(migrations: []), bootIdentifier: "boot-1")
        }
        let text = "/nonexistent/outbox: cannot open the folder: No such file or directory"
        #expect(error?.description == "\(text); check that the folder exists on a local disk")
    }
}
