import CommandLineLab
import Foundation
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Outbox
import Testing

/// Processes of the tool that are killed (SIGKILL) or stopped (SIGSTOP) while they add and send.
@Suite struct KilledProcessTests {
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
        let storage = try await lab.open(OutboxLab.addsOnly).storage
        let uncertain = try await storage.outcomes(after: 0, limit: .max).filter { $0.end == .uncertain }
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
        // Stopped in between, it may hold the lock of a commit for as long: everything it has begun is finished first.
        #expect(try tool(["wait", "1"], in: lab).finish().code == 0)
        try first.send(SIGSTOP)
        let second = try tool(["run"], in: lab)
        #expect(try tool(["add", lab.server.url + "/v1/b"], in: lab).finish().output == "2\n")
        let waiting = try tool(["wait", "2", "--timeout", "500ms"], in: lab).finish()
        #expect(waiting.code == 75)
        #expect(lab.server.requests.value.count == 1)
        try first.send(SIGKILL)
        #expect(try tool(["wait", "2", "--timeout", "30s"], in: lab).finish().code == 0)
        try second.send(SIGTERM)
        #expect(try second.finish().code == 0)
    }
}

/// The commands of the tool.
@Suite struct OutboxToolTests {
    private func run(_ arguments: String..., in lab: OutboxLab) throws -> LabProcess.Outcome {
        try LabProcess.run(ToolBinary.path + "-outbox", arguments + ["--box", lab.path])
    }

    @Test func `items are added once per key, listed, held, shown and dropped`() throws {
        let lab = try OutboxLab()
        let url = lab.server.url + "/v1/readings"
        #expect(try run("add", "--data", "{}", "--key", "k", "--lane", "l", url, in: lab).output == "1\n")
        #expect(try run("add", "--data", "{}", "--key", "k", "--lane", "l", url, in: lab).output == "1\n")
        let other = try run("add", "--data", "[]", "--key", "k", "--lane", "l", url, in: lab)
        #expect(other.code == 64 && other.errors.contains("the key 'k' was already used in lane 'l', for item 1"))
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
        #expect(try run("add", "--header", "Authorization: x", lab.server.url, in: lab).code == 64)
        #expect(try run("add", "--data", "@/nonexistent", lab.server.url, in: lab).code == 66)
        #expect(try run("add", "http://192.0.2.7/", in: lab).errors.contains("captive portal"))
        #expect(try run("pause", "none", in: lab).code == 66)
    }
}

/// A file system without space (a tmpfs in a mount namespace of its own).
@Suite struct FullDiskTests {
    @Test func `on a full disk items are delivered and their space is freed, and new ones are refused`() throws {
        let lab = try OutboxLab()
        let (tool, disk) = (ToolBinary.path + "-outbox", "\(lab.folder.path)/disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let script = """
            mount -t tmpfs -o size=80m none \(disk) || exit 99
            for number in 1 2 3; do \(tool) add --box \(disk)/box --data [$number] \(lab.server.url)/v1/a; done
            dd if=/dev/zero of=\(disk)/other bs=64k 2>/dev/null
            \(tool) add --box \(disk)/box \(lab.server.url)/v1/b; echo "add: $?"
            \(tool) run --once --box \(disk)/box; echo "run: $?"
            \(tool) outcomes --acknowledge --box \(disk)/box; echo "outcomes: $?"
            """
        let outcome = try LabProcess.run("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script])
        let delivered = (1...3).map { "\($0) delivered 200 POST v1/a\n" }
        #expect(outcome.output.hasPrefix("1\n2\n3\nadd: 75\nrun: 0\n"), "\(outcome)")
        #expect(delivered.allSatisfy { outcome.output.contains($0) } && outcome.output.hasSuffix("outcomes: 0\n"))
        #expect(outcome.errors.contains("too little space is left on the file system; free some"))
        #expect(lab.server.requests.value.count == 3)
    }

    @Test func `on a read-only file system items are refused and listed, and are sent when it is writable`() throws {
        let lab = try OutboxLab()
        let (tool, disk) = (ToolBinary.path + "-outbox", "\(lab.folder.path)/disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let script = """
            mount -t tmpfs -o size=200m none \(disk) || exit 99
            \(tool) add --box \(disk)/box --data 1 \(lab.server.url)/v1/a
            mount -o remount,ro \(disk) || exit 98
            \(tool) add --box \(disk)/box --data 2 \(lab.server.url)/v1/b; echo "add: $?"
            \(tool) list --box \(disk)/box
            mount -o remount,rw \(disk) || exit 97
            \(tool) run --once --box \(disk)/box; echo "run: $?"
            """
        let outcome = try LabProcess.run("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script])
        #expect(outcome.output.hasPrefix("1\nadd: 74\n") && outcome.output.hasSuffix("run: 0\n"), "\(outcome)")
        #expect(outcome.output.contains("POST v1/a") && outcome.errors.contains("Read-only file system"))
        #expect(lab.server.requests.value.map(\.path) == ["/v1/a"])
    }
}
