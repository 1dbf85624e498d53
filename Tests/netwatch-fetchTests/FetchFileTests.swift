import CommandLineLab
import CommandLineSupport
import Glibc
import HTTPLab
import NetworkLab
import Testing

@testable import netwatch_fetch

@Suite struct FetchFileTests {
    private let lab: FetchLab

    init() throws { lab = try FetchLab() }

    private var file: String { lab.folder.path + "/response" }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test func `the file is written whole, with head if that is wanted`() throws {
        let run = try lab.fetch("-o", file, lab.server(answering: "new").url())
        #expect(run.code == 0 && run.output == "" && run.errors == "")
        #expect(try Repository.read(absolute: file) == "new")
        #expect(lab.files == ["response"])
        let mask = umask(0)
        umask(mask)
        #expect(mode(of: file) == 0o666 & ~mask)
        #expect(try lab.fetch("-i", "-o\(file)", lab.server(answering: "two").url()).code == 0)
        #expect(try Repository.read(absolute: file) == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo")
    }

    @Test func `an existing file keeps its permissions, and a link is kept`() throws {
        try lab.folder.write("response", "old")
        chmod(file, 0o604)
        let link = lab.folder.path + "/link"
        symlink("response", link)
        #expect(try lab.fetch("-o", link, lab.server(answering: "new").url()).code == 0)
        #expect(try Repository.read(absolute: file) == "new")
        #expect(mode(of: file) == 0o604)
        #expect(lab.files == ["link", "response"])
        var status = stat()
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    }

    @Test func `an incomplete response leaves the old file, and no other`() throws {
        try lab.folder.write("response", "old")
        let cut = try lab.server(.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close)
        #expect(try lab.fetch("-o", file, cut.url()).code == 18)
        #expect(try lab.fetch("-f", "-o", file, lab.server(answering: "why", status: "500 No").url()).code == 22)
        #expect(try Repository.read(absolute: file) == "old")
        #expect(lab.files == ["response"])
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal removes the partial file`(signal: Int32) async throws {
        try lab.folder.write("response", "old")
        let server = try lab.server(.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .hold)
        let tool = try lab.start(["--max-time", "10m", "-o", file, server.url()])
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        #expect(lab.files.count == 2)
        tool.send(signal)
        #expect(try tool.exitCode() == 128 + signal)
        #expect(lab.files == ["response"])
        #expect(try Repository.read(absolute: file) == "old")
    }

    @Test func `a signal ends the writing of a response from memory, and leaves the file as it was`() throws {
        let body = String(repeating: "x", count: 50_000_000)
        var code = try signalWhileWriting(body)
        for _ in 0..<20 where code == 0 { code = try signalWhileWriting(body) }
        #expect(code == 128 + SIGTERM)
    }

    /// Sends a signal while a response is written over a file; returns the exit code, which is 0 if it came too late.
    private func signalWhileWriting(_ body: String) throws -> Int32 {
        try lab.folder.write("response", "old")
        let tool = try lab.start(["-i", "-o", file, lab.server(answering: body).url()])
        // Nothing announces that it writes.
        let deadline = ContinuousClock.now + .seconds(120)
        while lab.files.count == 1, try Repository.read(absolute: file) == "old", ContinuousClock.now < deadline {
            Polling.pause()
        }
        tool.send(SIGTERM)
        let code = try tool.exitCode()
        #expect(lab.files == ["response"])
        let written = try Repository.read(absolute: file)
        #expect(code == 0 ? written.hasSuffix("\r\n\r\n" + body) : written == "old")
        return code
    }

    @Test(arguments: [
        ("/no/such/folder/file", "No such file or directory"), ("/tmp", "Is a directory"),
        ("/etc/passwd/file", "Not a directory"),
    ])
    func `an unwritable file is reported before anything is sent`(path: String, words: String) throws {
        let server = try lab.server(answering: "x")
        let run = try lab.fetch("-o", path, server.url())
        #expect(run.code == 23)
        #expect(run.error?.hasPrefix("can't write '\(path)': \(words); name a file") == true, "\(run.errors)")
        #expect(server.connections.isEmpty)
    }

    @Test(arguments: [
        ("/no/such/folder/file", "No such file or directory"), ("/tmp", "Is a directory"),
        ("/etc/passwd/file", "Not a directory"),
    ])
    func `an unwritable file is reported before sending, also if the response is held in memory`(
        path: String,
        words: String
    ) throws {
        let server = try lab.server(answering: "x")
        let run = try lab.fetch("-i", "-o", path, "-d", "a=1", server.url())
        #expect(run.code == 23)
        #expect(run.error?.hasPrefix("can't write '\(path)': \(words); name a file") == true, "\(run.errors)")
        #expect(server.connections.isEmpty)
    }

    @Test(arguments: [[], ["-i"]])
    func `304 leaves the file unchanged`(options: [String]) throws {
        try lab.folder.write("response", "old")
        let server = try lab.server(.readRequest, .send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"))
        let tool = try lab.start(options + ["-o", file, "-H", "If-None-Match: \"a\"", server.url()])
        #expect(try tool.exitCode() == 0)
        #expect(try Repository.read(absolute: file) == "old")
        #expect(lab.files == ["response"])
    }

    @Test func `stdout by its name is a pipe like others`() throws {
        for path in ["/dev/stdout", "/dev/fd/1"] {
            let run = try lab.fetch("-o", path, lab.server(answering: "new").url())
            #expect(run.code == 0 && run.output == "new" && run.errors == "", "\(run)")
        }
        let shell = try lab.namespace.run {
            let url = try lab.server(answering: "new").url()
            let script = "'\(ToolBinary.path)' fetch -o /dev/stdout '\(url)' | cat"
            return try LabProcess.run("/bin/sh", ["-c", script])
        }
        #expect(shell.output == "new" && shell.errors == "")
    }

    @Test(
        arguments: [
            ("Name:\ta\nUmask:\t0027\nState:\tR", 0o027), ("Umask:\t0000\n", 0), ("Name:\tx", nil),
            ("Umask:\tx", nil), ("", nil),
        ] as [(String, mode_t?)]
    )
    func `the mask is read, not set`(status: String, mask: mode_t?) {
        #expect(CreationMask.mask(in: status) == mask)
    }

    @Test(arguments: ["", "-i"])
    func `the process's own mask counts`(option: String) throws {
        let url = try lab.server(answering: "x").url()
        let script = "umask 027; exec '\(ToolBinary.path)' fetch \(option) -o '\(file)' '\(url)'"
        #expect(try lab.namespace.run { try LabProcess.run("/bin/sh", ["-c", script]) }.code == 0)
        #expect(mode(of: file) == 0o640)
    }

    @Test func `devices are written in place`() throws {
        #expect(try lab.fetch("-o", "/dev/null", lab.server(answering: "x").url()).code == 0)
        let full = try lab.fetch("-o", "/dev/full", lab.server(answering: "x").url())
        #expect(full.code == 23)
        #expect(full.error?.hasPrefix("can't write '/dev/full': No space left on device") == true)
    }

    @Test(
        .disabled(if: LabSanitizer.isThread, "the sanitizer makes a larger file itself, when the tool starts"),
        arguments: [[], ["-i"]]
    )
    func `a response that exceeds a limit on file sizes is an error, and no signal`(options: [String]) throws {
        let server = try lab.server(answering: String(repeating: "x", count: 100_000))
        let tool = try ToolProcess(
            ["fetch"] + options + ["-o", file, server.url()],
            in: lab.namespace,
            through: ["/bin/sh", "-c", #"ulimit -f 8; exec "$0" "$@""#]
        )
        #expect(try tool.exitCode() == 23)
        let remedy =
            "raise the limit on file sizes (ulimit -f) or name an output on a file system that takes larger files"
        #expect(try tool.errors.rest() == "netwatch: can't write '\(file)': File too large; \(remedy)\n")
    }

    // MARK: Terminals

    @Test func `a terminal gets no binary, unless the user insists`() throws {
        let server = try lab.server(answering: "a\u{0}b")
        let refused = try PseudoTerminal()
        let tool = try lab.start([server.url()], stdout: .descriptor(refused.program))
        refused.handOver()
        #expect(try tool.exitCode() == 23)
        #expect(try tool.errors.rest().contains("the response is binary, which is not for terminals"))
        #expect(try refused.screen.rest() == "")
        let insisting = try PseudoTerminal()
        let other = try lab.start(["-o", "-", server.url()], stdout: .descriptor(insisting.program))
        insisting.handOver()
        #expect(try insisting.screen.rest() == "a\u{0}b")
        #expect(try other.exitCode() == 0)
    }

    @Test func `progress is drawn on a terminal`() throws {
        let latch = try ServerLatch()
        let half = String(repeating: "x", count: 5000)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n"
        let server = try lab.server(.readRequest, .send(head + half), .await(latch), .send(half))
        let terminal = try PseudoTerminal()
        let tool = try lab.start(["-o", file, server.url()], stderr: terminal.program)
        terminal.handOver()
        let drawn = try terminal.read(until: "5.0 kB of 10.0 kB")
        #expect(drawn.contains("\r 50 % ["))
        latch.open()
        let rest = try terminal.screen.rest()
        #expect(rest.contains("\r100 % [") && rest.hasSuffix("\u{1B}[K\r\n"))
        #expect(try tool.exitCode() == 0)
        #expect(try Repository.read(absolute: file) == half + half)
    }

    @Test func `a terminal that can only write a line below the other gets no tricks`() throws {
        let server = try lab.server(answering: String(repeating: "x", count: 5000))
        let terminal = try PseudoTerminal()
        let tool = try lab.start(["-o", file, server.url()], stderr: terminal.program, terminalType: "dumb")
        terminal.handOver()
        let screen = try terminal.screen.rest()
        #expect(screen.hasPrefix("100 % [####") && screen.contains("5.0 kB of 5.0 kB") && screen.hasSuffix("\r\n"))
        #expect(!screen.contains("\u{1B}") && screen.count { $0 == "\r\n" } == 1, "\(screen)")
        #expect(try tool.exitCode() == 0)
    }
}

extension Repository {
    /// Reads any file as text.
    static func read(absolute path: String) throws -> String { String(decoding: try bytes(of: path), as: UTF8.self) }
}
