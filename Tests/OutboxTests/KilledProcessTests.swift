import CommandLineLab
import DurableStore
import Foundation
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Outbox
import Testing

/// Processes of the tool that are killed (SIGKILL) or stopped (SIGSTOP) while they add and send.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct KilledProcessTests {
    /// Next to the running test bundle.
    private static let tool = ToolBinary.path + "-outbox"

    private func tool(_ arguments: [String], in lab: OutboxLab) throws -> LabProcess {
        try LabProcess(Self.tool, arguments + ["--box", lab.path])
    }

    @Test func `killed senders lose nothing, and send nothing without a key twice`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding)
        var (keyed, plain): (Set<String>, Set<String>) = ([], [])
        for number in 0..<300 {
            let options = ItemOptions(key: number % 2 == 0 ? .custom("k\(number)") : .none)
            try await lane.post("\(number)", .text("\(number)"), options: options)
            if number % 2 == 0 { keyed.insert("/v1/\(number)") } else { plain.insert("/v1/\(number)") }
        }
        // Each sender is killed when the server has seen some more requests.
        for round in 1...10 {
            let sender = try tool(["run"], in: lab)
            let goal = min(round * 25, 280)
            try await lab.server.requests.wait(for: "requests") { $0.count >= goal }
            try sender.send(SIGKILL)
            _ = try sender.finish()
        }
        let rest = try tool(["run", "--once"], in: lab)
        #expect(try rest.finish().code == 0)
        let served = lab.server.requests.value.reduce(into: [String: Int]()) { $0[$1.path, default: 0] += 1 }
        var ends: [String: ItemEnd] = [:]
        for outcome in try await adding.storage.outcomes(after: 0, limit: 1_000) {
            ends["/v1/\(outcome.reference)"] = outcome.end
        }
        #expect(ends.count == 300)
        for path in keyed { #expect(ends[path] == .delivered && served[path, default: 0] >= 1, "\(path)") }
        for path in plain {
            #expect(served[path, default: 0] <= 1, "\(path)")
            #expect(ends[path] == .uncertain || served[path] == 1, "\(path)")
        }
        let twice = lab.server.requests.value.filter { served[$0.path, default: 0] > 1 }
        for (_, group) in Dictionary(grouping: twice, by: \.path) {
            #expect(Set(group.map { "\($0["Idempotency-Key"] ?? "") \($0.body)" }).count == 1)
        }
    }

    @Test func `what a killed program has added and printed is sent`() async throws {
        let lab = try OutboxLab()
        var acknowledged: Set<String> = []
        for number in 0..<20 {
            let body = "[\(number)]"
            let adder = try tool(["add", "--data", body, lab.server.url + "/v1/a"], in: lab)
            // Every other one is killed as soon as its output appears, or before.
            if number % 2 == 0 { try adder.waitForOutput { $0.contains("\n") } }
            try adder.send(SIGKILL)
            if try adder.finish().output.contains("\n") { acknowledged.insert(body) }
        }
        #expect(acknowledged.count >= 10)
        #expect(try tool(["run", "--once"], in: lab).finish().code == 0)
        let served = Set(lab.server.requests.value.map { String(decoding: $0.body, as: UTF8.self) })
        #expect(acknowledged.isSubset(of: served))
    }

    /// `NETWATCH_KILLS`: the number of rounds.
    private static let rounds = ProcessInfo.processInfo.environment["NETWATCH_KILLS"].flatMap { Int($0) } ?? 12

    @Test func `killed enqueuers and senders lose nothing that was acknowledged`() async throws {
        let lab = try OutboxLab()
        var generator = SeededGenerator(seed: 7)
        var (acknowledged, plain): (Set<String>, Set<String>) = ([], [])
        for round in 0..<Self.rounds {
            let sender = try tool(["run"], in: lab)
            for number in 0..<4 {
                let (body, hasKey) = ("[\(round),\(number)]", number % 2 == 0)
                if !hasKey { plain.insert(body) }
                let arguments = ["add", "--data", body, lab.server.url + "/v1/a"] + (hasKey ? [] : ["--no-key"])
                let adder = try tool(arguments, in: lab)
                // The last of a round is killed at any moment, the others when they have ended.
                if number == 3 {
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...80_000, using: &generator)))
                    try adder.send(SIGKILL)
                }
                if try adder.finish().output.contains("\n") { acknowledged.insert(body) }
            }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000, using: &generator)))
            try sender.send(SIGKILL)
            _ = try sender.finish()
        }
        #expect(try tool(["run", "--once"], in: lab).finish().code == 0)
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let uncertain = try await outbox.storage.outcomes(after: 0, limit: .max).filter { $0.end == .uncertain }
        await outbox.shutdown()
        let requests = lab.server.requests.value
        let served = Dictionary(grouping: requests) { String(decoding: $0.body, as: UTF8.self) }
        let missing = acknowledged.filter { served[$0] == nil }
        #expect(acknowledged.count >= Self.rounds * 3 && missing.count <= uncertain.count)
        #expect(missing.isSubset(of: plain))
        for (body, group) in served where group.count > 1 {
            #expect(!plain.contains(body) && Set(group.map { $0["Idempotency-Key"] ?? "" }).count == 1, "\(body)")
        }
    }

    @Test func `while a sender is stopped no other sends, and the next one continues when it is killed`() async throws {
        let lab = try OutboxLab()
        let first = try tool(["run"], in: lab)
        #expect(try tool(["add", lab.server.url + "/v1/a"], in: lab).finish().code == 0)
        try await lab.server.requests.wait(for: "the first request") { $0.count == 1 }
        #expect(try tool(["wait", "1"], in: lab).finish().code == 0)
        try await stopBetweenCommits(first, in: lab)
        let second = try tool(["run"], in: lab)
        #expect(try tool(["add", lab.server.url + "/v1/b"], in: lab).finish().output == "2\n")
        let waiting = try tool(["wait", "2", "--timeout", "500ms"], in: lab).finish()
        #expect(waiting.code == 75)
        #expect(lab.server.requests.value.count == 1)
        try first.send(SIGKILL)
        #expect(try tool(["wait", "2", "--timeout", "120s"], in: lab).finish().code == 0)
        try second.send(SIGTERM)
        #expect(try second.finish().code == 0)
    }

    /// Stops a program (SIGSTOP) when it does not hold the lock of a commit, for which all others would wait.
    private func stopBetweenCommits(_ process: LabProcess, in lab: OutboxLab) async throws {
        let lock = try FileLock(at: "\(lab.path)/commit.lock", creates: false)
        while true {
            try process.send(SIGSTOP)
            while try !isStopped(process) { try await Task.sleep(for: .milliseconds(1)) }
            if try lock.tryLock() { return lock.unlock() }
            try process.send(SIGCONT)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Whether all threads of a program are stopped: their state follows their name, which is in parentheses (proc(5)).
    private func isStopped(_ process: LabProcess) throws -> Bool {
        let folder = "/proc/\(process.identifier)/task"
        return try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { thread in
            // A thread may end meanwhile.
            let bytes = (try? Repository.bytes(of: "\(folder)/\(thread)/stat")) ?? []
            return String(decoding: bytes, as: UTF8.self).split(separator: ")").last?.hasPrefix(" T ") == true
        }
    }
}

/// The commands of the tool.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct OutboxToolTests {
    private func run(_ arguments: String..., in lab: OutboxLab) throws -> LabProcess.Outcome {
        try LabProcess.run(ToolBinary.path + "-outbox", arguments + ["--box", lab.path])
    }

    @Test func `items are added once per key, listed, held, shown and dropped`() throws {
        let lab = try OutboxLab()
        let url = lab.server.url + "/v1/readings"
        #expect(try run("add", "--data", "{}", "--key", "k", "--lane", "l", url, in: lab).output == "1\n")
        #expect(try run("add", "--data", "{}", "--key", "k", "--lane", "l", url, in: lab).output == "1\n")
        let other = try run("add", "--data", "[]", "--key", "k", "--lane", "l", url, in: lab)
        #expect(other.code == 2 && other.errors.contains("the key 'k' was already used in lane 'l', for item 1"))
        #expect(try run("hold", "1", in: lab).code == 0)
        let list = try run("list", in: lab).output
        #expect(list == "l to \(lab.server.url): 1 item, 2 B\n  1 held POST v1/readings 2 B\n")
        #expect(try run("show", "1", "--json", in: lab).output.contains(#""item":1,"lane":"l","state":"held""#))
        #expect(try run("drop", "1", in: lab).code == 0)
        let outcomes = try run("outcomes", "--json", "--acknowledge", in: lab).output
        #expect(outcomes.contains(#""outcome":"dropped""#))
        #expect(try run("outcomes", in: lab).output == "")
        #expect(try run("check", in: lab).output == "0 items, 0 bytes, 0 outcomes\n")
    }

    @Test func `a command that does not exist is named, with those that do`() throws {
        let outcome = try run("cancel", "1", in: try OutboxLab())
        let reason = "there is no command 'outbox cancel'; the commands are list, show, add, run, wait,"
        #expect(outcome.code == 64 && outcome.errors.hasPrefix("netwatch: \(reason)"), "\(outcome)")
    }

    @Test func `a lane is paused and resumed`() throws {
        let lab = try OutboxLab()
        #expect(try run("add", "--lane", "l", lab.server.url, in: lab).code == 0)
        #expect(try run("pause", "l", in: lab).code == 0)
        #expect(try run("list", in: lab).output.contains("paused by command"))
        #expect(try run("resume", "l", in: lab).code == 0)
        #expect(try run("list", in: lab).output.contains("paused") == false)
    }

    @Test func `'wait' reports how an item has ended by its exit status`() throws {
        let lab = try OutboxLab { $0.path == "/bad" ? [.response(status: "404 Not Found")] : [.response()] }
        #expect(try run("add", lab.server.url + "/good", in: lab).output == "1\n")
        #expect(try run("add", lab.server.url + "/bad", in: lab).output == "2\n")
        #expect(try run("run", "--once", in: lab).code == 0)
        #expect(try run("wait", "1", in: lab).code == 0)
        let refused = try run("wait", "2", in: lab)
        #expect(refused.code == 1 && refused.output.contains("refused 404 POST bad"))
        #expect(try run("wait", "3", in: lab).code == 66)
    }

    @Test func `errors say what to do, with their exit status`() throws {
        let lab = try OutboxLab()
        #expect(try run("list", in: lab).code == 66)
        #expect(try run("add", "ftp://x", in: lab).code == 64)
        let secret = try run("add", "--header", "Authorization: x", lab.server.url, in: lab)
        #expect(secret.code == 64 && secret.errors.contains("'authorization' is a secret"))
        #expect(secret.errors.contains("leave it out"))
        for command in ["show", "wait", "drop", "export"] {
            let wrong = try run(command, "nosuch", in: lab)
            #expect(wrong.code == 64 && wrong.errors.contains("'netwatch outbox list' shows the numbers"), "\(wrong)")
        }
        #expect(try run("add", "--data", "@/nonexistent", lab.server.url, in: lab).code == 66)
        #expect(try run("add", "http://192.0.2.7/", in: lab).errors.contains("captive portal"))
        #expect(try run("pause", "none", in: lab).code == 66)
    }
}

/// A file system without space (a tmpfs in a mount namespace of its own).
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct FullDiskTests {
    /// Returns the tool, and a folder on which a script mounts a file system.
    private func makeDisk(_ lab: OutboxLab) throws -> (tool: String, disk: String) {
        let disk = "\(lab.folder.path)/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        return (ToolBinary.path + "-outbox", disk)
    }

    /// Runs a script in a mount namespace of its own.
    private func run(_ script: String) throws -> LabProcess.Outcome {
        try LabProcess.run("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script], within: .seconds(300))
    }

    @Test func `on a full disk items are delivered and their space is freed, and new ones are refused`() throws {
        let lab = try OutboxLab()
        let (tool, disk) = try makeDisk(lab)
        let script = """
            mount -t tmpfs -o size=80m none \(disk) || exit 99
            for number in 1 2 3; do \(tool) add --box \(disk)/box --data [$number] \(lab.server.url)/v1/a; done
            dd if=/dev/zero of=\(disk)/other bs=64k 2>/dev/null
            \(tool) add --box \(disk)/box \(lab.server.url)/v1/b; echo "add: $?"
            \(tool) run --once --box \(disk)/box; echo "run: $?"
            \(tool) outcomes --acknowledge --box \(disk)/box; echo "outcomes: $?"
            """
        let outcome = try run(script)
        let delivered = (1...3).map { "\($0) delivered 200 POST v1/a\n" }
        #expect(outcome.output.hasPrefix("1\n2\n3\nadd: 75\nrun: 0\n"), "\(outcome)")
        #expect(delivered.allSatisfy { outcome.output.contains($0) } && outcome.output.hasSuffix("outcomes: 0\n"))
        #expect(outcome.errors.contains("too little space is left on the file system; free some"))
        #expect(lab.server.requests.value.count == 3)
    }

    @Test func `on a disk that stays full any number of items are delivered`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding, .init(order: .ordered(isStrict: true)))
        for number in 1...80 { try await lane.post("\(number)", .text("x")) }
        await adding.shutdown()
        let (tool, disk) = try makeDisk(lab)
        let script = """
            mount -t tmpfs -o size=80m none \(disk) || exit 99
            cp -r \(lab.path) \(disk)/box
            \(tool) retry 1 --box \(disk)/box
            dd if=/dev/zero of=\(disk)/other bs=4k 2>/dev/null
            timeout -s KILL 240 \(tool) run --once --box \(disk)/box; echo "run: $?"
            \(tool) outcomes --acknowledge --box \(disk)/box | grep -c delivered
            """
        let outcome = try run(script)
        #expect(outcome.output == "run: 0\n80\n", "\(outcome)")
        #expect(lab.server.requests.value.map(\.path) == (1...80).map { "/v1/\($0)" })
    }

    @Test func `on a read-only file system items are refused and listed, and are sent when it is writable`() throws {
        let lab = try OutboxLab()
        let (tool, disk) = try makeDisk(lab)
        let script = """
            mount -t tmpfs -o size=200m none \(disk) || exit 99
            \(tool) add --box \(disk)/box --data 1 \(lab.server.url)/v1/a
            mount -o remount,ro \(disk) || exit 98
            \(tool) add --box \(disk)/box --data 2 \(lab.server.url)/v1/b; echo "add: $?"
            \(tool) list --box \(disk)/box
            mount -o remount,rw \(disk) || exit 97
            \(tool) run --once --box \(disk)/box; echo "run: $?"
            """
        let outcome = try run(script)
        #expect(outcome.output.hasPrefix("1\nadd: 74\n") && outcome.output.hasSuffix("run: 0\n"), "\(outcome)")
        #expect(outcome.output.contains("POST v1/a") && outcome.errors.contains("Read-only file system"))
        #expect(lab.server.requests.value.map(\.path) == ["/v1/a"])
    }

    @Test func `a repair without space leaves the damaged outbox as it is, and the next one keeps all`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let body = OutboxBody.bytes(.init(repeating: 7, count: 50_000))
        for number in 1...40 { try await lab.lane(adding).post("\(number)", body) }
        await adding.shutdown()
        try DamagedOutbox(at: lab.path).breakOrigins()
        let (tool, disk) = try makeDisk(lab)
        let script = """
            mount -t tmpfs -o size=80m none \(disk) || exit 99
            cp -r \(lab.path) \(disk)/box
            dd if=/dev/zero of=\(disk)/other bs=64k 2>/dev/null
            truncate -s -1M \(disk)/other
            \(tool) retry 1 --box \(disk)/box; echo "full: $?"
            ls \(disk)/box | grep -c damaged
            rm \(disk)/other
            \(tool) retry 1 --box \(disk)/box; echo "free: $?"
            \(tool) list --box \(disk)/box | grep -c POST
            ls \(disk)/box | grep -c -e damaged -e repair
            """
        let outcome = try run(script)
        #expect(outcome.output == "full: 75\n0\nfree: 0\n40\n1\n", "\(outcome)")
    }

    @Test(arguments: [false, true])
    func `with too little free space only bulk items are dropped that have files, and no more than needed`(
        haveFiles: Bool
    ) async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(.init(sends: false))
        let bulk = adding.lane("bulk", to: lab.server.url, .init(importance: .bulk))
        for _ in 1...10 { try await bulk.post("a", .bytes(.init(repeating: 7, count: haveFiles ? 100_000 : 50_000))) }
        await adding.shutdown()
        let (tool, disk) = try makeDisk(lab)
        // 120 KiB less than the 64 MiB that are left free.
        let script = """
            mount -t tmpfs -o size=80m none \(disk) || exit 99
            cp -r \(lab.path) \(disk)/box
            \(tool) retry 1 --box \(disk)/box
            blocks=$(stat -f -c '%a' \(disk))
            dd if=/dev/zero of=\(disk)/other bs=4096 count=$((blocks - 16384 + 30)) 2>/dev/null
            \(tool) add --box \(disk)/box --data [1] \(lab.server.url)/b; echo "add: $?"
            \(tool) list --box \(disk)/box | grep -c 'POST a'
            """
        let outcome = try run(script)
        #expect(outcome.output == (haveFiles ? "11\nadd: 0\n8\n" : "add: 75\n10\n"), "\(outcome)")
    }

    @Test func `an outbox is listed although it is larger than the memory for copies`() throws {
        let lab = try OutboxLab()
        let (tool, disk) = try makeDisk(lab)
        let script = """
            mount -t tmpfs -o size=200m none \(disk) && mount -t tmpfs -o size=64k none /dev/shm || exit 99
            \(tool) add --box \(disk)/box --data 1 \(lab.server.url)/v1/a
            \(tool) list --box \(disk)/box; echo "writable: $?"
            mount -o remount,ro \(disk) || exit 98
            \(tool) list --box \(disk)/box; echo "read-only: $?"
            ls /dev/shm | wc -l
            """
        let outcome = try run(script)
        let (lines, item) = (outcome.output.split(separator: "\n"), "  1 waiting POST v1/a 1 B")
        #expect(lines.filter { $0 == item }.count == 2, "\(outcome)")
        #expect(lines.contains("writable: 0") && lines.suffix(2) == ["read-only: 0", "0"], "\(outcome)")
    }
}

/// Processes that are killed while they repair an outbox.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct KilledRepairTests {
    @Test func `a repair that is killed at any moment loses no item`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding)
        try await lane.update()
        try await withThrowingTaskGroup { group in
            for number in 0..<3_000 { group.addTask { try await lane.post("\(number)", .text("\(number)")) } }
            try await group.waitForAll()
        }
        await adding.shutdown()
        try DamagedOutbox(at: lab.path).breakOrigins()
        let before = try identity(of: "\(lab.path)/outbox.db")
        for _ in 1...5 {
            let tool = try LabProcess(ToolBinary.path + "-outbox", ["retry", "1", "--box", lab.path])
            // Until a new database appears.
            let deadline = ContinuousClock.now + .seconds(5)
            while ContinuousClock.now < deadline, access("\(lab.path)/outbox.db.repair", F_OK) != 0,
                (try? identity(of: "\(lab.path)/outbox.db")) == before
            { await Polling.pause() }
            try tool.send(SIGKILL)
            _ = try tool.finish()
        }
        let storage = try BoxStorage(at: lab.path)
        #expect(try await storage.store.read { try BoxStorage.items($0).count } == 3_000)
        storage.store.close()
    }

    private func identity(of path: String) throws -> UInt64 {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return UInt64(status.st_ino)
    }
}
