import CommandLineLab
import Glibc
import HTTPLab
import NetwatchCore
import NetworkLab
import Testing

@testable import netwatch

@Suite(.timeLimit(.minutes(5))) struct HistoryCommandTests {
    private static func line(_ seq: Int, _ time: String, _ status: String, event: String = "change") -> String {
        """
        {"v":1,"seq":\(seq),"time":"2026-11-\(time)Z","event":"\(event)","status":"\(status)","previous":null,\
        "path":{"interface":null,"carriers":[],"ipv4":null,"ipv6":null,"expensive":false,"constrained":false},\
        "reasons":["link.carrier.lost"]}
        """
    }

    /// The lines of a day and a half, among other lines of a journal.
    private static let lines = [
        "-- Boot 7 --", line(1, "20T00:00:00.000000", "wifi", event: "state"), "",
        line(2, "20T12:00:00.000000", "notReachable"), "netwatch.service: a word of its own", "{\"v\":1,",
        line(3, "20T12:30:00.000000", "cellular"), line(4, "21T12:00:00.000000", "wifi"),
    ]

    private func history(_ arguments: String..., text: String = lines.joined(separator: "\n")) throws -> ToolProcess {
        let file = try TemporaryFile(Array(text.utf8))
        let tool = try ToolProcess(
            ["history", file.path] + arguments,
            in: LabNamespace(),
            environment: ["TZ": "UTC"]
        )
        // The file is removed with its object.
        _ = try tool.exitCode()
        return tool
    }

    @Test func `a table is printed, with remarks on the skipped lines`() throws {
        let tool = try history()
        #expect(try tool.exitCode() == 0)
        let text = """
            day         available  outages  longest    away  unknown
            2026-11-20    97.91 %        1   30 min  30 min        -
            2026-11-21   100.00 %        0        -       -        -
            whole         98.61 %        1   30 min  30 min        -

            outage from                until                      length  reason
            2026-11-20T12:00:00+00:00  2026-11-20T12:30:00+00:00  30 min  link.carrier.lost

            """
        #expect(try tool.output.rest() == text)
        let remarks = """
            netwatch: skipped 2 lines (1, 5), which are no records
            netwatch: skipped line 6, which is JSON of another kind, or damaged

            """
        #expect(try tool.errors.rest() == remarks)
    }

    @Test func `an impossible time is reported as damage`() throws {
        let early = Self.lines[1].replacing("2026-11-20", with: "0001-01-01")
        let tool = try history(text: early + "\nhello\n" + Self.lines[1])
        #expect(try tool.exitCode() == 0)
        let remarks = """
            netwatch: skipped line 2, which is no record
            netwatch: skipped line 1, which is JSON of another kind, or damaged

            """
        #expect(try tool.errors.rest() == remarks)
    }

    @Test func `suspensions are counted with and without their length`() throws {
        let told = Self.line(2, "20T10:00:00.000000", "wifi", event: "suspend").dropLast() + ",\"suspended\":7200.5}"
        let untold = Self.line(3, "20T12:00:00.000000", "wifi", event: "suspend")
        let tool = try history(text: Self.lines[1] + "\n" + told + "\n" + untold)
        #expect(try tool.output.rest().contains("2026-11-20   100.00 %        0        -     -      4 h\n"))
        let words = "line 3: the machine was suspended, and the line does not tell for how long"
        #expect(try tool.errors.rest() == "netwatch: \(words); the time before it is unknown\n")
    }

    @Test func `a picture can be written to a pipe, and through a symbolic link`() throws {
        let file = try TemporaryFile()
        let link = try TemporaryFile()
        #expect(unlink(link.path) == 0 && symlink(file.path, link.path) == 0)
        #expect(try history("--svg", link.path).exitCode() == 0)
        var status = stat()
        #expect(lstat(link.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(String(decoding: try Repository.bytes(of: file.path), as: UTF8.self).contains("</svg>"))
        let pipe = try TemporaryFile()
        #expect(unlink(pipe.path) == 0 && mkfifo(pipe.path, 0o600) == 0)
        let reader = open(pipe.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        #expect(try history("--svg", pipe.path).exitCode() == 0)
        #expect(lstat(pipe.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        var start = [UInt8](repeating: 0, count: 5)
        #expect(read(reader, &start, 5) == 5 && start == Array("<?xml".utf8))
    }

    @Test func `records of a time window are read from stdin`() throws {
        let tool = try ToolProcess(
            ["history", "-", "--since", "2026-11-20T12:15:00Z", "--until", "2026-11-21"],
            in: LabNamespace(),
            environment: ["TZ": "UTC"]
        )
        tool.type(Self.lines.filter { $0.hasSuffix("}") }.joined(separator: "\n") + "\n")
        tool.closeInput()
        let text = try tool.output.rest()
        #expect(text.contains("whole         97.87 %        1   15 min  15 min        -\n"), "\(text)")
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `a picture replaces the old file, and others can read it`() throws {
        let picture = try TemporaryFile(Array("before".utf8))
        let tool = try history("--svg", picture.path)
        #expect(try tool.exitCode() == 0)
        let text = String(decoding: try Repository.bytes(of: picture.path), as: UTF8.self)
        #expect(text.contains("<title id=\"title\">Network availability, 2026-11-20 to 2026-11-21</title>"))
        #expect(text.contains("98.61 % available, 1 outage, away for 30 min"))
        let check = "import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])"
        let outcome = try LabProcess.run("/usr/bin/env", ["python3", "-c", check, picture.path])
        #expect(outcome.code == 0, "\(outcome)")
    }

    @Test(arguments: [
        ("", "no record in "), ("hello\n{}\n", "(lines: 2); give the output of 'netwatch watch --json'"),
        ("{\"v\":2}", "no record in "),
    ])
    func `input without a record is refused`(text: String, words: String) throws {
        let tool = try history(text: text)
        #expect(try tool.exitCode() == 65)
        #expect(try tool.output.rest() == "")
        #expect(try tool.errors.rest().contains(words))
    }

    @Test(arguments: [
        (["history"], 64, "<file>"), (["history", "/no/such"], 65, "cannot read '/no/such': No such file"),
        (["history", "/dev/null", "--since", "soon"], 64, "write a day as 2026-11-20"),
        (["history", "--socket", "/no/such", "--since", "1600-01-01"], 65, "the event service at '/no/such'"),
        (["history", "/dev/null", "--svg", ""], 64, "The name after --svg is empty"),
        (["history", "/dev/null", "--svg", "-"], 64, "--svg needs a file, as stdout has the table"),
    ])
    func `invalid arguments are refused`(arguments: [String], code: Int32, words: String) throws {
        let tool = try ToolProcess(arguments, in: LabNamespace())
        #expect(try tool.exitCode() == code)
        let text = try tool.errors.rest()
        #expect(text.contains(words) && text.filter(\.isNewline) == "\n", "\(text)")
    }

    @Test func `a service that stops responding is an error`() throws {
        let folder = try LabFolder()
        let sockets = ["silent", "stopped", "full"].map { "\(folder.path)/\($0)" }
        let part = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}\n"
        let servers = [
            try ScriptedServer(on: .unix(sockets[0]), always: [.hold]),
            try ScriptedServer(on: .unix(sockets[1]), always: [.readRequest, .send(part), .hold]),
            // The kernel queues one connection, and lets the other one wait.
            try ScriptedServer(on: .unix(sockets[2]), backlog: 0, accepting: 0) { _ in [] },
        ]
        let lab = try LabNamespace()
        let tools = try (sockets + [sockets[2]]).map { try ToolProcess(["history", "--socket", $0], in: lab) }
        for tool in tools {
            #expect(try tool.exitCode() == 75)
            #expect(try tool.errors.rest().hasSuffix("' does not respond; try again, or restart it\n"))
        }
        withExtendedLifetime((folder, servers)) {}
    }

    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("1.5s", .milliseconds(1_500)), ("2m", .seconds(120)),
        ("7d", .seconds(7 * 86_400)),
    ])
    func `a period begins as long ago as its duration says, to the millisecond`(text: String, age: Duration) throws {
        let start = Timestamp(seconds: 1_795_399_200, nanoseconds: 250_000_000)
        let days = LocalDays { _ in 0 }
        #expect(try MomentArgument.parse(text).moment(now: start.advanced(by: age), days: days) == start)
    }

    @Test func `an unwritable picture and an empty time window are errors`() throws {
        let unwritten = try history("--svg", "/proc/no/such.svg")
        #expect(try unwritten.exitCode() == 74)
        #expect(try unwritten.errors.rest().contains("can't write /proc/no/such.svg: No such file or directory"))
        let apart = try history("--since", "2026-12-01")
        #expect(try apart.exitCode() == 65)
        #expect(try apart.errors.rest().contains("no record lies between --since and --until"))
    }
}
