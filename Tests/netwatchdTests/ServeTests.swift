import CommandLineLab
import CommandLineSupport
import Glibc
import HTTPLab
import LinuxSystem
import NetworkLab
import ReachabilityCore
import Testing

@testable import netwatchd

/// Runs `netwatch serve` on machines with two uplinks.
@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct ServeTests {
    private let uplinks = Result { try LabUplinks() }
    private let folder = Result { try SocketFolder() }
    private static let kinds = ["--kind", "wlan*=wifi", "--kind", "wwan*=cellular"]

    private var path: String { get throws { try folder.get().path + "/events.sock" } }

    private func serve(_ arguments: String..., environment: [String: String] = [:]) throws -> ToolProcess {
        let all = ["serve", "--socket", try path] + Self.kinds + arguments
        return try ToolProcess(all, in: try uplinks.get().home, environment: environment)
    }

    private func follow(_ fields: String...) throws -> EventClient {
        let client = try EventClient(path: try path)
        client.send((["GET /v1/events HTTP/1.1", "Host: x"] + fields + ["", ""]).joined(separator: "\r\n"))
        #expect(try client.head().status == 200)
        return client
    }

    @Test func `the loss of a carrier arrives as an event, as watch --json prints it`() throws {
        let uplinks = try uplinks.get()
        let watch = try ToolProcess(["watch", "--json"] + Self.kinds, in: uplinks.home)
        let tool = try serve()
        let (events, lines) = try (follow(), follow("Accept: application/x-ndjson"))
        #expect(try events.object()["status"]?.text == "wifi")
        let first = try #require(try watch.output.line())
        #expect(Self.withoutTime(try #require(try lines.line())) == Self.withoutTime(first))
        try uplinks.loseWiFi()
        while true {
            let line = try #require(try watch.output.line())
            #expect(Self.withoutTime(try #require(try lines.line())) == Self.withoutTime(line))
            let object = try events.object()
            #expect(object["event"]?.text == "change")
            if object["status"]?.text != "wifi" { break }
        }
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
        #expect(access(try path, F_OK) == -1)
    }

    @Test func `of services that start at the same moment, one has the socket`() throws {
        for _ in 0..<300 {
            let path = try path
            let results = LabInbox<ListeningSocket?>()
            let threads = try (0..<2).map { _ in try LabThread { results.put(try? UnixSocket(path: path).open()) } }
            for thread in threads { thread.join() }
            let sockets = results.all.compactMap(\.self)
            #expect(sockets.count == 1)
            #expect(throws: Never.self) { try EventClient(path: path) }
            for socket in sockets {
                // A process that another test starts has the descriptor until it executes its program.
                shutdown(socket.descriptor, Int32(SHUT_RDWR))
                close(socket.descriptor)
            }
        }
    }

    @Test func `a service that ends leaves the socket of another one that took its place`() throws {
        let first = try serve()
        _ = try follow()
        // As a process that ends has closed its socket, and takes a while for the rest.
        #expect(unlink(try path) == 0)
        let second = try serve()
        _ = try follow()
        first.send(SIGTERM)
        #expect(try first.exitCode() == 0)
        _ = try follow()
        second.send(SIGTERM)
        #expect(try second.exitCode() == 0)
        #expect(access(try path, F_OK) == -1)
    }

    @Test func `the socket of another kind of service is kept`() throws {
        let other = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(other) }
        let address = try ServiceManager.SocketAddress(path)
        #expect(address.withPointer { bind(other, $0, $1) } == 0)
        let tool = try serve()
        #expect(try tool.exitCode() == ExitStatus.systemFailure.rawValue)
        #expect(try tool.errors.rest().contains("another process"))
        #expect(access(try path, F_OK) == 0)
    }

    private static func withoutTime(_ line: String) -> String { line.replacing(/"time":"[^"]*"/, with: "") }

    @Test func `a client resumes after its connection was cut, and is told when the service was restarted`() throws {
        let uplinks = try uplinks.get()
        let tool = try serve()
        let client = try follow()
        let id = try #require(try client.event()?["id"])
        client.end()
        try uplinks.home.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        let resumed = try follow("Last-Event-ID: \(id)")
        #expect(try resumed.object()["event"]?.text == "change")
        tool.send(SIGKILL)
        #expect(try tool.exitCode() == 1000 + SIGKILL)
        // The socket of the killed service is still there.
        #expect(access(try path, F_OK) == 0)
        let second = try serve()
        defer { second.send(SIGTERM) }
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? EventClient(path: try path)) == nil, ContinuousClock.now < deadline {}
        let late = try follow("Last-Event-ID: \(id)")
        let gap = try late.object()
        #expect(gap["event"]?.text == "gap" && gap["gap"]?["from"]?.text == id)
        #expect(gap["gap"]?["missed"] == .null && gap["gap"]?["reason"]?.text == "unknown")
        #expect(try late.object()["event"]?.text == "state")
    }

    @Test func `a socket that is served is not taken over`() throws {
        let tool = try serve()
        _ = try follow()
        let second = try serve()
        #expect(try second.exitCode() == 71)
        let words = "another process serves events on '\(try path)'; end it, or choose another --socket"
        #expect(try second.errors.rest() == "netwatch: \(words)\n")
        _ = try follow()
        tool.send(SIGINT)
        #expect(try tool.exitCode() == 0)
    }

    @Test func `a file that is no socket is left alone`() throws {
        let file = try TemporaryFile()
        let tool = try ToolProcess(["serve", "--socket", file.path], in: try uplinks.get().home)
        #expect(try tool.exitCode() == 71)
        #expect(try tool.errors.rest().contains("exists and is no socket; remove it"))
        #expect(access(file.path, F_OK) == 0)
    }

    @Test(arguments: [
        (["--socket", "events.sock"], "absolute"), (["--listen", "0.0.0.0:80"], "put a proxy before the socket"),
        (["--listen", "192.0.2.2:80"], "put a proxy before the socket"),
        (["--listen", "127.0.0.1"], "port is missing"),
        (["--listen", "127.0.0.1:0"], "1 to 65535"), (["--origin", "http://a.example"], "add --listen"),
        (["--listen", "127.0.0.1:1", "--origin", "a.example"], "write scheme, host and port"),
    ])
    func `invalid arguments are refused in one line`(arguments: [String], words: String) throws {
        let tool = try ToolProcess(["serve"] + arguments, in: try uplinks.get().home)
        #expect(try tool.exitCode() == 64)
        let errors = try tool.errors.rest()
        #expect(errors.contains(words) && errors.filter(\.isNewline) == "\n", "\(errors)")
    }

    @Test func `300 readers of one user are all served, the last when others end`() throws {
        let tool = try serve()
        defer { tool.send(SIGTERM) }
        var clients: [EventClient] = []
        for _ in 0..<300 {
            let client = try EventClient(path: try path)
            client.request("/v1/events")
            clients.append(client)
        }
        for client in clients[..<256] { #expect(try client.head().status == 200) }
        // A short request needs no turn.
        let other = try EventClient(path: try path)
        other.request("/metrics")
        #expect(try other.response().body.contains("\nnetwatch_subscribers 256\n"))
        for client in clients[..<44] { client.end() }
        for client in clients[256...] { #expect(try client.head().status == 200) }
    }

    @Test func `the state, the path to a host and the metrics are served, on loopback too`() throws {
        let uplinks = try uplinks.get()
        let metrics = try TemporaryFile()
        let tool = try serve("--listen", "127.0.0.1:8787", "--metrics-file", metrics.path)
        defer { tool.send(SIGTERM) }
        let client = try EventClient(path: try path)
        client.request("/v1/state")
        let state = try JSONParser.parse(try client.response().body)
        #expect(state["status"]?.text == "wifi" && state["path"]?["interface"]?["by"]?.text == "rule")
        client.request("/v1/paths/\(LabUplinks.server)")
        let route = try JSONParser.parse(try client.response().body)
        #expect(route["reachable"] == .bool(true) && route["host"]?.text == LabUplinks.server)
        let first = try #require(route["paths"]?.elements?.first)
        #expect(first["gateway"]?.text == "192.0.2.1" && first["interface"]?["name"]?.text == "wlan0")
        client.request("/")
        let page = try client.response().body
        #expect(
            page.contains("<title>wifi · ") && page.contains(">wlan0 <span class=\"kind\">wifi, <b>path</b></span>")
        )
        client.request("/metrics")
        let text = try client.response().body
        #expect(text.contains("\nnetwatch_state{state=\"wifi\"} 1\n"))
        let remote = try uplinks.home.run { try EventClient(port: 8787) }
        remote.send("GET /v1/state HTTP/1.1\r\nHost: 127.0.0.1:8787\r\n\r\n")
        #expect(try remote.response().status == 200)
        // It is written after the service has begun to listen.
        var written = ""
        let deadline = ContinuousClock.now + .seconds(60)
        while !written.contains("netwatch_state{state=\"wifi\"} 1\n"), ContinuousClock.now < deadline {
            written = String(decoding: try Repository.bytes(of: metrics.path), as: UTF8.self)
        }
        #expect(try fileMode(metrics.path) & 0o777 == 0o644)
        #expect(written.contains("netwatch_state{state=\"wifi\"} 1\n"))
    }

    @Test func `a metrics file that can't be written is reported each time that this begins`() throws {
        let uplinks = try uplinks.get()
        let lab = try LabFolder()
        let (directory, elsewhere) = (lab.path + "/metrics", lab.path + "/elsewhere")
        let file = directory + "/netwatch.prom"
        #expect(mkdir(directory, 0o700) == 0)
        let tool = try serve("--metrics-file", file)
        try waitForFile(file)
        for _ in 1...2 {
            #expect(rename(directory, elsewhere) == 0)
            // Each change has it written, and so do 15 s.
            try uplinks.loseWiFi()
            #expect(try tool.errors.line()?.hasPrefix("netwatch: cannot write the metrics to '\(file)': ") == true)
            unlink(elsewhere + "/netwatch.prom")
            #expect(rename(elsewhere, directory) == 0)
            try uplinks.regainWiFi()
            try waitForFile(file)
        }
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    /// Waits until there is a file.
    private func waitForFile(_ path: String) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while access(path, F_OK) != 0 {
            guard ContinuousClock.now < deadline else { throw LabError("wait for '\(path)'", errno: ETIMEDOUT) }
            Polling.pause()
        }
    }

    @Test func `netwatch history reports what the service has stored, and says if it stores nothing`() throws {
        let uplinks = try uplinks.get()
        let journal = try LabFolder()
        let tool = try serve("--journal", journal.path + "/journal")
        let client = try follow()
        _ = try client.event()
        try uplinks.loseWiFi()
        while try client.object()["status"]?.text == "wifi" {}
        let report = try LabProcess.run(ToolBinary.path, ["history", "--socket", try path, "--since", "1d"])
        #expect(report.code == 0 && report.errors == "", "\(report)")
        #expect(report.output.contains("\nwhole ") && report.output.hasPrefix("day "))
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
        let missing = try LabProcess.run(ToolBinary.path, ["history", "--socket", try path])
        #expect(missing.code == 65 && missing.errors.contains("start it with 'netwatch serve --journal DIR'"))
        let plain = try serve()
        defer { plain.send(SIGTERM) }
        _ = try follow()
        let refused = try LabProcess.run(ToolBinary.path, ["history", "--socket", try path])
        #expect(refused.code == 65 && refused.errors.contains("keeps no journal"), "\(refused)")
    }

    @Test func `a service whose journal another one uses ends with an error, and can start once that was killed`()
        throws
    {
        let uplinks = try uplinks.get()
        let folder = try LabFolder()
        let (journal, socket) = (folder.path + "/journal", folder.path + "/other.sock")
        let first = try serve("--journal", journal)
        _ = try follow()
        let arguments = ["serve", "--socket", socket, "--journal", journal]
        let second = try ToolProcess(arguments, in: uplinks.home)
        #expect(try second.exitCode() == ExitStatus.systemFailure.rawValue)
        let words = "another netwatchd keeps its journal in '\(journal)'; end it, or choose another --journal"
        #expect(try second.errors.rest() == "netwatch: \(words)\n")
        #expect(access(socket, F_OK) == -1)
        let report = try LabProcess.run(ToolBinary.path, ["history", "--socket", try path])
        #expect(report.code == 0, "\(report)")
        first.send(SIGKILL)
        #expect(try first.exitCode() == 1000 + SIGKILL)
        let third = try ToolProcess(arguments, in: uplinks.home)
        let client = try EventClient(path: socket)
        client.request("/v1/state")
        #expect(try client.response().status == 200)
        third.send(SIGTERM)
        #expect(try third.exitCode() == 0)
        #expect(try third.errors.rest() == "")
    }

    @Test(arguments: ["size=40k", "ro"])
    func `with a journal on a full or read-only disk, the service goes on and says so`(options: String) throws {
        let uplinks = try uplinks.get()
        let folder = try LabFolder()
        mkdir(folder.path + "/disk", 0o700)
        let script = #"""
            mount -t tmpfs -o "$1" none "$2/disk" &&
            exec "$0" serve --socket "$2/events.sock" --journal "$2/disk/journal" --kind 'wlan*=wifi' 2>&1
            """#
        let service = try uplinks.home.run {
            try LabProcess("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script, ToolBinary.path, options, folder.path])
        }
        try service.waitForOutput { $0.contains("events are served, but not stored in") }
        let client = try EventClient(path: folder.path + "/events.sock")
        client.request("/v1/events")
        #expect(try client.head().status == 200)
        #expect(try client.object()["status"]?.text == "wifi")
        try uplinks.loseWiFi()
        while try client.object()["status"]?.text == "wifi" {}
        let other = try EventClient(path: folder.path + "/events.sock")
        other.request("/metrics")
        #expect(try other.response().body.contains("\nnetwatch_journal_up 0\n"))
        try service.send(SIGTERM)
        let outcome = try service.finish()
        // It says so once.
        #expect(outcome.code == 0 && outcome.output.filter(\.isNewline) == "\n", "\(outcome)")
    }

    @Test func `systemd is told when connections are accepted, and its sockets are used`() throws {
        let notify = try ServiceSocket(try folder.get().path + "/notify")
        let passed = try uplinks.get().home.run { try Self.listening(try path) }
        defer { close(passed) }
        let files = try FileActions()
        try files.duplicate(passed, to: 3)
        let script = #"LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve "$@""#
        let id = try uplinks.get().home.run {
            try files.spawn(
                "/bin/sh",
                ["-c", script, ToolBinary.path] + Self.kinds,
                environment: ["NOTIFY_SOCKET": notify.name, "WATCHDOG_USEC": "20000"]
            )
        }
        #expect(try notify.first() == ["READY=1", "STATUS=wifi through wlan0"])
        #expect(try notify.next() == ["WATCHDOG=1"])
        #expect(try follow().object()["status"]?.text == "wifi")
        kill(id, SIGTERM)
        while try notify.next() != ["STOPPING=1"] {}
        var status: Int32 = -1
        waitpid(id, &status, 0)
        #expect(status == 0)
        // The socket is systemd's, and stays.
        #expect(access(try path, F_OK) == 0)
    }

    private static func listening(_ path: String) throws -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try systemCall("socket") { socket(AF_UNIX, type, 0) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        try withUnsafePointer(to: address) { pointer in
            _ = try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try systemCall("bind") { bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) }
            }
        }
        try systemCall("listen") { listen(descriptor, 16) }
        return descriptor
    }

    /// The examples of docs/events.md, by the language of their block and the program that runs them.
    @Test(arguments: [
        ("sh", "/bin/sh"), ("python", "/usr/bin/python3"), ("js", "/usr/bin/node"), ("go", "/usr/bin/go"),
    ])
    func `the examples of the page about events work`(language: String, program: String) throws {
        guard access(program, X_OK) == 0 else { return }
        let tool = try serve()
        defer { tool.send(SIGTERM) }
        _ = try follow()
        let page = try Repository.read("docs/events.md")
        let blocks = page.matches(of: try Regex("(?m)^```\(language)\n((?s).*?)^```$")).compactMap {
            $0.output[1].substring
        }
        #expect(!blocks.isEmpty)
        for block in blocks where !block.contains("serve") {
            let text = String(block.replacing("/run/netwatch/events.sock", with: try path))
            let process = try uplinks.get().home.run {
                try LabProcess(program, try arguments(language, text))
            }
            try process.waitForOutput { $0.contains("wifi") }
        }
    }

    private func arguments(_ language: String, _ text: String) throws -> [String] {
        guard language == "go" else { return [language == "js" ? "-e" : "-c", text] }
        let imports = #"import ("bufio"; "context"; "fmt"; "net"; "net/http")"#
        let file = try folder.get().path + "/example.go"
        let source = "package main\n\(imports)\nfunc main() {\n\(text)}\n"
        let stream = try #require(fopen(file, "we"))
        defer { fclose(stream) }
        #expect(fputs(source, stream) >= 0)
        return ["run", file]
    }
}

/// A directory for sockets, which is removed with this object.
final class SocketFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/netwatch-serve-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw LabError("mkdtemp", errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for file in ["events.sock", "example.go"] { unlink(path + "/" + file) }
        rmdir(path)
    }
}
