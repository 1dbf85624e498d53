import CommandLineLab
import DurableStore
import Foundation
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Outbox
import OutboxCore
import Testing

/// An outbox to which the members of a group may add, as that of the system.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct SharedOutboxTests {
    /// The owner's number, which is that of the group too.
    private static let owner: UInt32 = 4_242
    private static let member: UInt32 = 4_243
    private let lab: OutboxLab
    /// The tool where other users can execute it.
    private let tool: String

    init() throws {
        lab = try OutboxLab()
        tool = lab.folder.path + "/netwatch-outbox"
        // By another process: a child of another test could hold a file that this one writes (ETXTBSY).
        #expect(try LabProcess.run("/bin/cp", [ToolBinary.path + "-outbox", tool]).code == 0)
        chmod(lab.folder.path, 0o755)
        mkdir(lab.path, 0o710)
        mkdir(lab.path + "/incoming", 0o700)
        for path in [lab.path, lab.path + "/incoming"] { chown(path, Self.owner, Self.owner) }
        chmod(lab.path + "/incoming", 0o3730)
    }

    /// Runs a program as a user, in one group besides its own.
    private func run(_ words: [String], as user: UInt32, in group: UInt32? = nil) throws -> LabProcess.Outcome {
        let groups = group.map { ["--groups", "\($0)"] } ?? ["--clear-groups"]
        return try LabProcess.run(
            "/usr/bin/setpriv",
            ["--reuid", "\(user)", "--regid", "\(user)"] + groups + words
        )
    }

    private func add(_ arguments: String..., as user: UInt32, in group: UInt32? = owner) throws -> LabProcess.Outcome {
        try run([tool, "add", "--box", lab.path] + arguments, as: user, in: group)
    }

    private var incoming: IncomingFolder { .init(of: lab.path) }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: incoming.path)) ?? []
    }

    /// Whether there are further users: not in the namespace of `scripts/test`, whose only one is root.
    ///
    /// `scripts/check-deb` tries the same with the installed package.
    private static let hasUsers =
        (try? LabProcess.run("/usr/bin/setpriv", ["--reuid", "\(owner)", "/bin/true"]).code) == 0

    @Test(.enabled(if: hasUsers))
    func `a member of the group adds items, and their owner's service sends them`() throws {
        let large = try lab.folder.write("large", .init(repeating: 7, count: 100_000))
        chmod(large, 0o644)
        let added = try add("--data", "[1]", "--lane", "l", lab.server.url + "/a", as: Self.member)
        #expect(added.code == 0 && added.output.count == 33, "\(added)")
        #expect(try add("--data", "@\(large)", "--key", "k", lab.server.url + "/b", as: Self.member).output == "k\n")
        #expect(files.count == 2)
        let sent = try run([tool, "run", "--once", "--box", lab.path], as: Self.owner)
        #expect(sent.code == 0 && sent.errors == "", "\(sent)")
        let requests = lab.server.requests.value.sorted { $0.path < $1.path }
        #expect(requests.map(\.path) == ["/a", "/b"] && requests.last?.body.count == 100_000)
        #expect(requests.first?["Idempotency-Key"] == "\"\(added.output.dropLast())\"")
        #expect(files.isEmpty)
        let outcomes = try run([tool, "outcomes", "--json", "--box", lab.path], as: Self.owner)
        #expect(outcomes.output.contains("\"lane\":\"\(Self.member)/l\""), "\(outcomes)")
    }

    @Test(.enabled(if: hasUsers))
    func `nobody but the owner reads what is in it, and nobody outside the group adds`() throws {
        #expect(try add("--data", "[1]", lab.server.url + "/a", as: Self.member).code == 0)
        let outsider = try add(lab.server.url, as: 4_244, in: nil)
        #expect(outsider.code == 77 && outsider.errors.contains("members of its group"), "\(outsider)")
        #expect(try run(["/bin/ls", incoming.path], as: Self.member, in: Self.owner).code != 0)
        let file = try #require(files.first)
        #expect(try run(["/bin/rm", "-f", "\(incoming.path)/\(file)"], as: 4_244, in: Self.owner).code != 0)
        // Root gives up its rights for those of the owner, so that the owner can open every file.
        #expect(try LabProcess.run(tool, ["run", "--once", "--box", lab.path]).code == 0)
        #expect(try run([tool, "list", "--box", lab.path], as: Self.member, in: Self.owner).code == 77)
        let owners = try FileManager.default.subpathsOfDirectory(atPath: lab.path).map { path in
            var status = stat()
            return lstat("\(lab.path)/\(path)", &status) == 0 ? status.st_uid : 0
        }
        #expect(Set(owners) == [Self.owner])
    }

    @Test func `links, pipes and damaged files are set aside, and files that are being written are left`() async throws
    {
        chown(lab.path, getuid(), getgid())
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        #expect(symlink("/etc/shadow", incoming.path + "/link") == 0)
        #expect(mkfifo(incoming.path + "/pipe", 0o644) == 0)
        let hard = try lab.folder.write("hard", Array("netwatch outbox archive 1\nend 0\n".utf8))
        #expect(link(hard, incoming.path + "/hard") == 0)
        let damaged = try lab.folder.write("box/incoming/damaged", Array("x".utf8))
        var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
        utimes(damaged, &times)
        let young = try lab.folder.write("box/incoming/young", Array("x".utf8))
        times = times.map { _ in timeval(tv_sec: time(nil) + 3_600, tv_usec: 0) }
        utimes(young, &times)
        let lane = ForeignLane("l", to: lab.server.url, .init(), in: incoming)
        _ = try lane.request(.post, "a", .text("a"), .init())
        _ = try lane.request(.post, "b", .text("b"), .init())
        let locked = try #require(files.first { $0.count == 32 })
        let descriptor = open("\(incoming.path)/\(locked)", O_RDONLY | O_CLOEXEC)
        flock(descriptor, LOCK_EX)
        let (added, errors) = await incoming.collect(into: storage)
        #expect(added == 1 && errors.count == 4, "\(errors)")
        #expect(Set(files) == [locked, "young"])
        let rejected = try FileManager.default.contentsOfDirectory(atPath: lab.path + "/rejected")
        #expect(Set(rejected) == ["link", "pipe", "hard", "damaged"])
        flock(descriptor, LOCK_UN)
        close(descriptor)
        #expect(await incoming.collect(into: storage).added == 1)
    }

    @Test func `a file without room holds back no other, and one that never fits is set aside unread`() async throws {
        chown(lab.path, getuid(), getgid())
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        try await storage.setLimits(.init(items: 10, bytes: 1_000, freeSpace: 0))
        let lane = ForeignLane("l", to: lab.server.url, .init(), in: incoming)
        func put(_ size: Int, as name: String) throws {
            let before = files
            _ = try lane.request(.post, "a", .bytes(.init(repeating: 7, count: size)), .init())
            let file = try #require(files.first { !before.contains($0) })
            #expect(rename("\(incoming.path)/\(file)", "\(incoming.path)/\(name)") == 0)
        }
        try put(600, as: "first")
        #expect(await incoming.collect(into: storage).added == 1)
        try put(500, as: "a")
        try put(2_000, as: "b")
        try put(10, as: "c")
        // Its body is not whole: that is found only if it is read.
        let large = URL(filePath: "\(incoming.path)/b")
        try Data(contentsOf: large).dropLast(1_000).write(to: large)
        let (added, errors) = await incoming.collect(into: storage)
        #expect(added == 1 && errors.map(\.code) == [.full, .invalidRequest])
        #expect(files == ["a"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: lab.path + "/rejected") == ["b"])
    }

    @Test func `a member's options about a lane change the rules of the lane that is there, and no others`()
        async throws
    {
        chown(lab.path, getuid(), getgid())
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        func add(_ options: LaneOptions, changing changes: Set<LaneRule>) async throws -> LaneOptions? {
            let lane = ForeignLane("l", to: lab.server.url, options, changing: changes, in: incoming)
            _ = try lane.request(.post, "a", .text("a"), .init())
            #expect(await incoming.collect(into: storage).added == 1)
            return try await storage.lanes().first?.options
        }
        var expected = LaneOptions(path: .notExpensive)
        #expect(try await add(expected, changing: [.path]) == expected)
        expected.order = .ordered(isStrict: false)
        #expect(try await add(.init(order: expected.order, priority: 9), changing: [.order]) == expected)
        #expect(try await add(.init(), changing: []) == expected)
    }

    @Test func `items are collected in the order in which they were added`() async throws {
        chown(lab.path, getuid(), getgid())
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        let lane = ForeignLane("l", to: lab.server.url, .init(), in: incoming)
        for number in 1...6 {
            let before = files
            _ = try lane.request(.post, "\(number)", .text("a"), .init())
            let file = try #require(files.first { !before.contains($0) })
            var times = [timeval(tv_sec: number, tv_usec: 0), timeval(tv_sec: number, tv_usec: 0)]
            utimes("\(incoming.path)/\(file)", &times)
        }
        #expect(await incoming.collect(into: storage).added == 6)
        let references = try await storage.store.read { try BoxStorage.items($0).map(\.reference) }
        #expect(references == (1...6).map { "\($0)" })
    }

    @Test func `a file that is left by a sender that ended is added once`() async throws {
        chown(lab.path, getuid(), getgid())
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        let lane = ForeignLane("l", to: lab.server.url, .init(), in: incoming)
        _ = try lane.request(.post, "a", .text("a"), .init(key: .none))
        let file = "\(incoming.path)/\(try #require(files.first))"
        let bytes = try Data(contentsOf: URL(filePath: file))
        #expect(await incoming.collect(into: storage).added == 1)
        try bytes.write(to: URL(filePath: file))
        #expect(await incoming.collect(into: storage).added == 0)
        #expect(files.isEmpty)
        #expect(try await storage.store.read { try BoxStorage.items($0).count } == 1)
    }

    @Test(arguments: ["X-A: a\\r\\nX-B: b", "type", "credential"])
    func `an item that would change the request around it, or use the owner's credentials, is set aside`(
        what: String
    ) async throws {
        chown(lab.path, getuid(), getgid())
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        let lane = ForeignLane("l", to: lab.server.url, .init(), in: incoming)
        let type = what == "type" ? "a/b\r\nX-B: b" : "a/b"
        let credential = what == "credential" ? "cloud" : nil
        _ = try lane.request(.post, "a", .text("a", contentType: type), .init(credential: credential))
        if what.hasPrefix("X-A") { try changeField() }
        let (added, errors) = await incoming.collect(into: storage)
        #expect(added == 0 && errors.count == 1)
        #expect(try await storage.lanes().isEmpty)
    }

    /// Writes a line feed into a field of the only item, with a correct digest.
    private func changeField() throws {
        let file = "\(incoming.path)/\(try #require(files.first))"
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        let reader = try ArchiveReader(of: descriptor, named: file)
        var item = try #require(try reader.next())
        close(descriptor)
        item.fields["X-A"] = "a\r\nX-B: b"
        let target = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC)
        let writer = try ArchiveWriter(to: target, named: file)
        try writer.write(item) { write in Array("a".utf8).withUnsafeBytes(write) }
        try writer.end()
        close(target)
    }
}
