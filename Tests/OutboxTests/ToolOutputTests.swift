import CommandLineLab
import DurableStore
import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Outbox
import Testing

/// The output of the commands, and `run` as a service.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct ToolOutputTests {
    private let lab: OutboxLab
    private let tool = ToolBinary.path + "-outbox"

    init() throws { lab = try OutboxLab() }

    private func run(_ arguments: String...) throws -> LabProcess.Outcome {
        try LabProcess.run(tool, arguments + ["--box", lab.path])
    }

    @Test func `a lane keeps its rules when a command adds to it, and another destination is refused`() async throws {
        #expect(try run("add", "--lane", "l", "--ordered", "--no-expensive", lab.server.url).code == 0)
        #expect(try run("add", "--lane", "l", lab.server.url).code == 0)
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        let rules = try #require(try await storage.lanes().first?.options)
        #expect(rules.order == .ordered(isStrict: false) && rules.path == .notExpensive)
        let elsewhere = try run("add", "--lane", "l", "https://192.0.2.7/")
        #expect(elsewhere.code == 64 && elsewhere.errors.contains("lane 'l' sends to"), "\(elsewhere)")
    }

    @Test func `a lane is moved to another destination, with the items that wait`() throws {
        #expect(try run("add", "--lane", "l", "--ordered", "https://192.0.2.7/a").code == 0)
        #expect(try run("add", "--lane", "l", "--move-lane", lab.server.url + "/b").code == 0)
        #expect(try run("run", "--once").code == 0)
        #expect(lab.server.requests.value.map(\.path) == ["/a", "/b"])
    }

    @Test func `stdin is a body, from a pipe and from a file, of any size`() async throws {
        let large = try lab.folder.write("large", .init(repeating: 7, count: 300_000))
        let script = """
            printf '[1]' | \(tool) add --box \(lab.path) --data - \(lab.server.url)/1 &&
            cat \(large) | \(tool) add --box \(lab.path) --data - \(lab.server.url)/2 &&
            \(tool) add --box \(lab.path) --data - \(lab.server.url)/3 <\(large)
            """
        let outcome = try LabProcess.run("/bin/sh", ["-c", script])
        #expect(outcome.output == "1\n2\n3\n", "\(outcome)")
        #expect(try run("run", "--once").code == 0)
        let sizes = lab.server.requests.value.sorted { $0.path < $1.path }.map(\.body.count)
        #expect(sizes == [3, 300_000, 300_000])
    }

    @Test func `the URL is in the first line of stdin, and the body in what follows, of any size`() throws {
        let large = [UInt8](repeating: 7, count: 300_000)
        let file = try lab.folder.write("large", Array("\(lab.server.url)/2\n".utf8) + large)
        let script = """
            printf '%s\\n[1]' \(lab.server.url)/1 | \(tool) add --box \(lab.path) --data - - &&
            \(tool) add --box \(lab.path) --data - - <\(file) &&
            printf %s \(lab.server.url)/3 | \(tool) add --box \(lab.path) --data [3] - &&
            ! \(tool) add --box \(lab.path) - </dev/null
            """
        let outcome = try LabProcess.run("/bin/sh", ["-c", script])
        #expect(outcome.code == 0 && outcome.output == "1\n2\n3\n", "\(outcome)")
        #expect(outcome.errors.contains("'' is no URL"), "\(outcome)")
        #expect(try run("run", "--once").code == 0)
        let bodies = lab.server.requests.value.sorted { $0.path < $1.path }.map { Array($0.body) }
        #expect(bodies == [Array("[1]".utf8), large, Array("[3]".utf8)])
    }

    @Test func `'run --once' ends although items are held back or their lane is paused`() throws {
        #expect(try run("add", "--lane", "a", lab.server.url).code == 0)
        #expect(try run("add", "--lane", "b", lab.server.url).code == 0)
        #expect(try run("hold", "1").code == 0 && run("pause", "b").code == 0)
        #expect(try run("run", "--once").code == 0)
        #expect(lab.server.requests.value.isEmpty)
        #expect(try run("check", "--json").output.hasPrefix(#"{"items":2,"#))
    }

    @Test func `commands that print have a form in JSON`() throws {
        #expect(try run("add", "--json", lab.server.url + "/a").output == #"{"item":1}"# + "\n")
        #expect(try run("show", "1", "--json").output.hasPrefix(#"{"item":1,"#))
        #expect(try run("show", "1").output.contains("state: waiting\nrequest: POST a\n"))
        #expect(try run("list", "--json").output.contains(#""items":1,"held":0,"bytes":0"#))
        #expect(try run("run", "--once").code == 0)
        #expect(try run("wait", "1", "--json").output.contains(#""outcome":"delivered""#))
    }

    @Test func `a moment and a lifetime are read, and wrong ones are refused with the form to write`() throws {
        #expect(try run("add", "--not-before", "2h", "--expires", "3d", lab.server.url).code == 0)
        #expect(try run("add", "--not-before", "2030-01-01T00:00:00Z", "--expires", "never", lab.server.url).code == 0)
        #expect(try run("list").output.contains(", not before 20"))
        let moment = try run("add", "--not-before", "tomorrow", lab.server.url)
        #expect(moment.code == 64 && moment.errors.contains("write a moment as"), "\(moment)")
        let lifetime = try run("add", "--expires", "7", lab.server.url)
        #expect(lifetime.code == 64 && lifetime.errors.contains("or never"), "\(lifetime)")
        let far = try run("add", "--not-before", "9999-12-31T00:00:00Z", "--expires", "never", lab.server.url)
        #expect(far.code == 64 && far.errors.contains("before the year 2261"), "\(far)")
    }

    @Test func `a folder that can't be created is an error of its own`() throws {
        let file = try lab.folder.write("file", [])
        let outcome = try LabProcess.run(tool, ["add", "--box", file + "/box", lab.server.url])
        #expect(outcome.code == 73, "\(outcome)")
    }

    @Test func `on a terminal the lanes are a table, and 'run' has a line with what waits`() throws {
        #expect(try run("add", "--lane", "logs", "--data", "[1]", lab.server.url).code == 0)
        #expect(try run("pause", "logs").code == 0)
        let terminal = try PseudoTerminal()
        let namespace = try LabNamespace()
        let list = try ToolProcess(
            ["outbox", "list", "--box", lab.path],
            in: namespace,
            stdout: .descriptor(terminal.program)
        )
        let seen = try terminal.read(until: "POST")
        #expect(seen.contains("LANE  ITEMS  SIZE  OLDEST  SENT/MIN  STATE"))
        #expect(seen.contains("paused by command"))
        #expect(try list.exitCode() == 0)
        let sender = try ToolProcess(
            ["outbox", "run", "--box", lab.path],
            in: namespace,
            stderr: terminal.program,
            environment: ["TERM": "xterm"]
        )
        #expect(try terminal.read(until: "command").contains("1 waiting, 3 B; logs paused by command"))
        kill(sender.id, SIGTERM)
        #expect(try sender.exitCode() == 0)
    }

    /// Has a number of items end.
    private func endItems(_ count: Int) async throws {
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        try await storage.store.write { database in
            try database.run(
                """
                WITH RECURSIVE number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id < ?)
                INSERT INTO outcome (id, lane, end, method, reference, user_info, added_wall, ended_wall, reason)
                SELECT id, 1, 0, 'POST', 'a', '{}', 0, 0, '' FROM number
                """,
                .integer(Int64(count))
            )
            try BoxSchema.recount(database)
        }
    }

    private func outcomes() async throws -> Int {
        let storage = try BoxStorage(at: lab.path)
        defer { storage.store.close() }
        return try await storage.store.read { try BoxStorage.statistics($0).outcomes }
    }

    @Test func `outcomes that nobody reads are not acknowledged`() async throws {
        try await endItems(10)
        // Both ends of the pipe are open when its reader is closed.
        let script = """
            mkfifo \(lab.path)/pipe && exec 3<>\(lab.path)/pipe && exec 4>\(lab.path)/pipe && exec 3<&- &&
            \(tool) outcomes --acknowledge --box \(lab.path) >&4
            """
        #expect(try LabProcess.run("/bin/sh", ["-c", script]).code == 0)
        #expect(try await outcomes() == 10)
    }

    @Test func `outcomes are acknowledged no further than a reader took them`() async throws {
        try await endItems(20_000)
        let script = "\(tool) outcomes --acknowledge --json --box \(lab.path) | head -n 1"
        let outcome = try LabProcess.run("/bin/sh", ["-c", script])
        #expect(outcome.code == 0 && outcome.output.hasPrefix(#"{"item":1,"#), "\(outcome)")
        // The rest is more than the pipe and its reader have in memory.
        #expect(try await outcomes() > 10_000)
    }

    @Test func `all outcomes are printed in their order, and acknowledged`() async throws {
        try await endItems(250)
        let printed = try run("outcomes", "--acknowledge")
        let numbers = printed.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(numbers == (1...250).map { "\($0)" })
        #expect(try await outcomes() == 0)
        #expect(try run("outcomes").output.isEmpty)
    }

    @Test func `a service manager is told that it is ready, alive and stopping`() throws {
        let socket = try ServiceSocket("\(lab.folder.path)/notify")
        let environment = ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "600000", "PATH": "/usr/bin:/bin"]
        let process = try LabProcess(tool, ["run", "--box", lab.path], environment: environment)
        #expect(try socket.next() == ["READY=1", "WATCHDOG=1", "STATUS=0 waiting, 0 B"])
        // The second and third come without any change of the outbox.
        for _ in 1...2 { #expect(try socket.next() == ["WATCHDOG=1", "STATUS=0 waiting, 0 B"]) }
        try process.send(SIGTERM)
        var last: [String] = []
        while last != ["STOPPING=1"] { last = try socket.next() }
        #expect(try process.finish().code == 0)
    }
}
