import CommandLineLab
import HTTPLab
import NetworkLab
import Testing

@testable import netwatch_fetch

@Suite struct FetchCookieTests {
    private let lab: FetchLab
    private var folder: String { lab.folder.path }

    init() throws { lab = try FetchLab() }

    private func server() throws -> ScriptedServer {
        try lab.server([
            .readRequest, .response("in", headers: ["Set-Cookie: new=1; Path=/; Max-Age=100", "Set-Cookie: s=2"]),
        ])
    }

    private func cookies(of server: ScriptedServer) -> [String?] {
        server.connections.flatMap(\.requests).map { $0.field("Cookie") }
    }

    private func text(_ name: String) throws -> String {
        try LabProcess.run("/bin/cat", ["\(folder)/\(name)"]).output
    }

    @Test func `cookies of an argument are sent, and none is kept`() throws {
        let server = try server()
        let run = try lab.fetch("-b", "a=1; b=2", "--cookie", "c=3", server.url())
        #expect(run.output == "in" && run.code == 0, "\(run)")
        #expect(cookies(of: server) == ["a=1; b=2; c=3"])
    }

    @Test func `a jar is written at the end, and read by option`() throws {
        let server = try server()
        #expect(try lab.fetch("-c", "\(folder)/jar", server.url()).code == 0)
        #expect(try text("jar").contains("\tFALSE\t/\tFALSE\t0\ts\t2\n"))
        #expect(try LabProcess.run("/usr/bin/stat", ["-c", "%a", "\(folder)/jar"]).output == "600\n")
        #expect(try lab.fetch("-b", "\(folder)/jar", "-b", "own=3", server.url()).code == 0)
        #expect(try lab.fetch("-j", "-b", "\(folder)/jar", server.url()).code == 0)
        #expect(try lab.fetch("--cookie", "\(folder)/none", server.url()).code == 0)
        #expect(cookies(of: server) == [nil, "new=1; s=2; own=3", "new=1", nil])
    }

    @Test func `curl reads the jar, and its jar is read`() throws {
        let server = try server()
        #expect(try lab.fetch("-c", "\(folder)/jar", server.url()).code == 0)
        let arguments = ["-sS", "-b", "\(folder)/jar", "-c", "\(folder)/curl", server.url()]
        let curl = try lab.namespace.run { try LabProcess.run("/usr/bin/curl", arguments) }
        #expect(curl.code == 0 && curl.output == "in", "\(curl)")
        #expect(try lab.fetch("-b", "\(folder)/curl", server.url()).code == 0)
        #expect(
            cookies(of: server).dropFirst().map { $0.map { Set($0.split(separator: "; ")) } } == [
                ["new=1", "s=2"], ["new=1", "s=2"],
            ]
        )
    }

    @Test func `a jar on stdout follows the body, and a redirect and a refusal keep cookies`() throws {
        let server = try lab.server([
            .readRequest, .response("", status: "302 Found", headers: ["Location: /b", "Set-Cookie: a=1; Path=/"]),
            .readRequest, .response("no", status: "403 Forbidden", headers: ["Set-Cookie: b=2; Path=/"]),
        ])
        let run = try lab.fetch("-L", "-f", "-c", "-", server.url())
        #expect(run.code == 22, "\(run)")
        #expect(run.output.contains("\ta\t1\n") && run.output.contains("\tb\t2\n"))
        #expect(cookies(of: server) == [nil, "a=1"])
    }

    @Test func `bad cookies and files are refused without their contents`() throws {
        let url = "http://127.0.0.1:9/"
        try lab.folder.write("passwd", "root:x:0:0\n")
        let run = try lab.fetch("-b", "\(folder)/passwd", url)
        #expect(
            run.code == 64 && run.error?.contains("line 1") == true && run.error?.contains("root:") == false,
            "\(run)"
        )
        #expect(try lab.fetch("-b", "a=\u{1}b", url).code == 64)
        #expect(try lab.fetch("-c", "", url).code == 64)
        let server = try server()
        let unwritable = try lab.fetch("-c", "\(folder)/missing/jar", server.url())
        #expect(unwritable.code == 23 && unwritable.error?.hasPrefix("--cookie-jar: ") == true, "\(unwritable)")
    }
}
