import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Synchronization
import Testing

@testable import netwatch_fetch

@Suite(.timeLimit(.minutes(5))) struct FetchResumeTests {
    private let lab: FetchLab
    private let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    init() throws { lab = try FetchLab() }

    private var file: String { lab.folder.path + "/file" }
    private var options: [String] { ["--resume", "-o", file] }

    // A server that has the file. For each request the plan has how many bytes to send, and what to do then; the last
    // is done again and again.
    private func server(_ plan: [(count: Int, then: [ServerStep])]) throws -> ScriptedServer {
        let number = Number()
        let respond: @Sendable (ServerRecord.Request) -> [ServerStep] = { [bytes] request in
            let turn = plan[min(number.next(), plan.count - 1)]
            let start = request.field("Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let end = start + min(turn.count, bytes.count - start)
            var head = "HTTP/1.1 \(start > 0 ? "206 Partial Content" : "200 OK")\r\nETag: \"v1\"\r\n"
            if start > 0 { head += "Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)\r\n" }
            head += "Content-Length: \(bytes.count - start)\r\n\r\n"
            return [.sendBytes(Array(head.utf8) + bytes[start..<end])] + turn.then
        }
        return try lab.server(.respond(respond))
    }

    private final class Number: Sendable {
        private let value = Atomic(0)

        func next() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }
    }

    private func requests(to server: ScriptedServer) -> [ServerRecord.Request] {
        server.connections.flatMap(\.requests)
    }

    /// The command line of the tool, quoted for a shell.
    private func command(_ url: String) -> String {
        ShellText.command([ToolBinary.path, "fetch"] + options + [url])
    }

    @Test func `a truncated download is kept, and continued by the printed command`() throws {
        let server = try server([(50_000, [.close]), (.max, [.hold])])
        let broken = try lab.fetch("--resume", "-o", file, server.url())
        #expect(broken.code == 18 && broken.output == "")
        let advice = "; 50.0 kB are kept in '\(file).part'; go on by: \(command(server.url()))"
        #expect(broken.error?.hasSuffix(advice) == true, "\(broken.errors)")
        #expect(lab.files == ["file.part", "file.part.info"])
        let whole = try lab.fetch("--resume", "-o", file, server.url())
        #expect(whole.code == 0 && whole.output == "" && whole.errors == "", "\(whole)")
        #expect(try Repository.bytes(of: file) == bytes)
        #expect(lab.files == ["file"])
        let requests = requests(to: server)
        #expect(requests.map { $0.field("Range") } == [nil, "bytes=50000-"])
        #expect(requests.last?.field("If-Range") == "\"v1\"")
    }

    @Test func `the part behind a link is reported, and a part of another URL is not`() throws {
        let server = try server([(50_000, [.close])])
        symlink("file", lab.folder.path + "/link")
        try lab.folder.write("file", "old")
        let broken = try lab.fetch("--resume", "-o", lab.folder.path + "/link", server.url())
        #expect(broken.code == 18)
        #expect(broken.error?.contains("; 50.0 kB are kept in '\(file).part'; go on by: ") == true, "\(broken.errors)")
        let other = try lab.server(answering: "why", status: "404 Not Found")
        let refused = try lab.fetch("--resume", "-o", file, other.url())
        #expect(refused.code == 22)
        #expect(refused.error?.hasSuffix("and no file") == true, "\(refused.errors)")
        #expect(lab.files == ["file", "file.part", "file.part.info", "link"])
    }

    @Test func `other parameters make another URL`() throws {
        let server = try server([(50_000, [.close])])
        for parameter in ["a=1", "a=2", "a=2"] {
            #expect(try lab.fetch("--resume", "-o", file, "--param", parameter, server.url()).code == 18)
        }
        #expect(requests(to: server).map { $0.field("Range") } == [nil, nil, "bytes=50000-"])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `after a signal, the command to continue is printed`(signal: Int32) throws {
        let server = try server([(50_000, [.hold]), (.max, [.hold])])
        let terminal = try PseudoTerminal()
        let tool = try lab.start(options + [server.url()], stderr: terminal.program)
        terminal.handOver()
        let drawn = try terminal.read(until: "50.0 kB of 200.0 kB")
        #expect(drawn.contains("\r 25 % ["))
        tool.send(signal)
        #expect(try tool.exitCode() == 128 + signal)
        let told = try terminal.screen.rest().split(separator: "\r\n" as Character).last
        #expect(told == "netwatch: 50.0 kB are kept in '\(file).part'; go on by: \(command(server.url()))")
        #expect(try lab.fetch("--resume", "-o", file, server.url()).code == 0)
        #expect(try Repository.bytes(of: file) == bytes)
        #expect(requests(to: server).last?.field("Range") == "bytes=50000-")
    }

    @Test func `a download that is killed repeatedly results in the same file`() throws {
        let sent = LabInbox<Int>()
        let rounds = 20
        let random = (0..<rounds).map { _ in Int.random(in: 0...9000) }
        let held = random.enumerated().map { number, count in
            (count: count, then: [ServerStep.custom { _ in sent.put(number) }, .hold])
        }
        let server = try server(held + [(.max, [.hold])])
        for round in 0..<rounds {
            let tool = try lab.start(options + [server.url()])
            _ = try sent.wait(for: "part \(round)") { $0.contains(round) }
            tool.send(SIGKILL)
            #expect(try tool.exitCode() == 1000 + SIGKILL)
            #expect(!lab.files.contains("file"))
        }
        let whole = try lab.fetch("--resume", "-o", file, server.url())
        #expect(whole.code == 0, "\(whole.errors); parts \(random)")
        #expect(try Repository.bytes(of: file) == bytes)
        #expect(lab.files == ["file"])
    }

    @Test func `an unsuccessful response leaves the existing files, and is reported`() throws {
        try lab.folder.write("file", "old")
        let missing = try lab.server(answering: "why", status: "404 Not Found")
        let run = try lab.fetch("--resume", "-o", file, missing.url())
        #expect(run.code == 22 && run.output == "")
        #expect(run.error == "GET \(missing.url()): the server responded with 404 Not Found, and no file")
        let moved = try lab.server(answering: "", status: "302 Found", "Location: /x")
        let redirected = try lab.fetch("--resume", "-o", file, moved.url())
        #expect(redirected.code == 22 && redirected.error?.hasSuffix("and no file; -L follows redirects") == true)
        #expect(try Repository.read(absolute: file) == "old")
        #expect(lab.files == ["file"])
    }

    @Test(arguments: [
        (["--resume"], "give -o FILE"), (["--resume", "-o", "-"], "give -o FILE"),
        (["--resume", "-o", "x", "-d", "y"], "leave out --data, or --resume"),
        (["--resume", "-o", "x", "-I"], "by GET alone"), (["--resume", "-o", "x", "-X", "PUT"], "by GET alone"),
        (["--resume", "-o", "x", "-i"], "leave out --include"),
        (["--resume", "-o", "x", "--fail-with-body"], "leave out --fail-with-body"),
        (["--resume", "-o", "x", "-H", "range: bytes=1-"], "leave out Range and If-Range"),
    ])
    func `options that contradict --resume are usage errors`(arguments: [String], words: String) throws {
        let tool = try lab.start(arguments + ["http://127.0.0.1:9/"])
        let errors = try tool.errors.rest()
        #expect(try tool.exitCode() == 64)
        #expect(errors.contains(words) && errors.split(separator: "\n").count == 1, "\(errors)")
    }
}
