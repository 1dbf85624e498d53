import CommandLineLab
import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct RecordReplayTests {
    /// A printed state without the parts that a replay cannot know: the time, and corrections by lookups.
    private struct Told: Hashable {
        let members: [JSONValue?]

        init(_ line: String) throws {
            let value = try EventSchema.parse(line)
            members = ["seq", "event", "status", "previous", "path"].map { value[$0] }
        }
    }

    /// A recording, and the lines of a simultaneous watch.
    private struct Recording {
        let capture: [UInt8]
        let lines: [String]
    }

    /// Records a story while it is watched.
    private func record() throws -> Recording {
        let uplinks = try Uplinks()
        let recorder = try uplinks.tool("record", "-")
        let capture = CaptureStream(recorder.output)
        try capture.read(untilNotices: 1)
        let watch = try ToolProcess(["watch", "--json"] + Uplinks.kinds, in: uplinks.lab)
        var lines = [try watch.output.line()]
        for step in Self.story {
            try step(uplinks)
            lines.append(try watch.output.line())
            try capture.read(untilNotices: lines.count)
        }
        for tool in [recorder, watch] { tool.send(SIGINT) }
        #expect(try recorder.exitCode() == 0)
        #expect(try recorder.errors.rest() == "")
        #expect(try watch.output.line() == nil)
        try capture.readToEnd()
        return Recording(capture: capture.bytes, lines: lines.compactMap(\.self))
    }

    /// Each step leads to one line.
    private static let story: [@Sendable (Uplinks) throws -> Void] = [
        { try $0.connectWiFi() },
        { uplinks in
            try uplinks.connectCellular()
            try uplinks.lab.rtnl.setDown("ap0")
        },
        { try $0.lab.rtnl.setDown("wlan0") },
        { uplinks in
            try uplinks.lab.rtnl.addAddress("2001:db8::2/64", on: "wwan0")
            try uplinks.lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wwan0", metric: 1024)
        },
        { try $0.lab.rtnl.setDown("wwan0") },
    ]

    @Test func `a replay prints the recorded states, from a file and from stdin`() throws {
        let recording = try record()
        let watched = try recording.lines.map(Told.init)
        let file = try TemporaryFile(recording.capture)
        let lab = try LabNamespace()
        let replay = try ToolProcess(["replay", file.path, "--json"] + Uplinks.kinds, in: lab)
        let lines = try replay.output.rest().split(separator: "\n").map(String.init)
        #expect(try lines.map(Told.init) == watched)
        #expect(try replay.exitCode() == 0)
        #expect(try replay.errors.rest() == "")

        let script = #""$0" replay - --json --kind wlan0=wifi --kind wwan0=cellular < "$1""#
        let piped = try ToolProcess(
            ["run", "--for", "notReachable", "--", "sh", "-c", script, ToolBinary.path, file.path],
            in: lab
        )
        #expect(try piped.output.rest().split(separator: "\n").map(String.init) == lines)
    }

    @Test func `a truncated recording is read up to its end, or refused with record and byte`() throws {
        let capture = try record().capture
        let whole = replayed(capture)
        #expect(whole.fault == nil)
        for length in stride(from: 0, to: capture.count, by: 7) {
            let (changes, fault) = replayed(Array(capture[..<length]))
            #expect(changes == Array(whole.changes.prefix(changes.count)) || fault == nil)
            if let fault { #expect("\(fault)".contains("at byte ")) }
        }
    }

    @Test func `a damaged capture is refused`() throws {
        let capture = try record().capture
        let file = try TemporaryFile(Array(capture.dropLast(3)))
        let tool = try ToolProcess(["replay", "--json", file.path], in: LabNamespace())
        #expect(try tool.exitCode() == 65)
        let words = try tool.errors.rest()
        #expect(words.hasPrefix("netwatch: \(file.path): record ") && words.contains(" at byte "))
        #expect(words.filter(\.isNewline) == "\n")
        for line in try tool.output.rest().split(separator: "\n") { _ = try EventSchema.parse(line) }
    }

    @Test(arguments: [
        ("/no/such/file", "No such file or directory"), ("/tmp", "Is a directory"),
        ("/dev/null", "file header at byte 0"),
        ("/etc/passwd", "neither pcap nor pcapng"),
    ])
    func `a file that is no capture is refused`(path: String, words: String) throws {
        let tool = try ToolProcess(["replay", path], in: LabNamespace())
        #expect(try tool.exitCode() == 65)
        let errors = try tool.errors.rest()
        #expect(errors.contains(words) && errors.filter(\.isNewline) == "\n")
        #expect(try tool.output.rest() == "")
    }

    @Test func `an earlier recording is not overwritten, an empty file is`() throws {
        let lab = try LabNamespace()
        let full = try TemporaryFile([1, 2, 3])
        let refused = try ToolProcess(["record", full.path], in: lab)
        #expect(try refused.exitCode() == 64)
        #expect(try refused.errors.rest().contains("holds something already; remove it, or name another file"))
        #expect(try Repository.bytes(of: full.path) == [1, 2, 3])

        let empty = try TemporaryFile()
        let taken = try ToolProcess(["record", empty.path], in: lab)
        try taken.waitUntilBlocks(SIGINT)
        taken.send(SIGINT)
        #expect(try taken.exitCode() == 0)
        #expect(try replayed(Repository.bytes(of: empty.path)).fault == nil)
    }

    @Test func `a recording that cannot begin leaves its file to the next one`() throws {
        let lab = try LabNamespace()
        let file = try TemporaryFile()
        let failed = try ToolProcess(["record", "--netns", "no-such-namespace", file.path], in: lab)
        #expect(try failed.exitCode() != 0)
        #expect(try Repository.bytes(of: file.path) == [])
    }

    @Test(
        arguments: [
            (["record", "/dev/full"], 74, "can't write '/dev/full': No space left on device"),
            (["record", "/no/such/directory/file"], 74, "cannot create '/no/such/directory/file'"),
            (["record"], 64, "Missing expected argument '<file>'"),
            (["record", ""], 64, "name one, or '-' for stdout"),
            (["replay"], 64, "Missing expected argument '<file>'"),
            (["replay", "--netns", "x", "f"], 64, "Unknown option '--netns'"),
        ] as [([String], Int32, String)]
    )
    func `a missing or unwritable file is an error`(arguments: [String], code: Int32, words: String) throws {
        let tool = try ToolProcess(arguments, in: LabNamespace())
        #expect(try tool.exitCode() == code)
        let errors = try tool.errors.rest()
        #expect(errors.contains(words) && errors.filter(\.isNewline) == "\n", "\(errors)")
    }

    @Test(.disabled(if: LabSanitizer.isThread, "the sanitizer makes a larger file itself, when the tool starts"))
    func `a recording that exceeds a limit on file sizes is an error, and no signal`() throws {
        let file = try TemporaryFile()
        let wrapper = ["/bin/sh", "-c", #"ulimit -f 0; exec "$0" "$@""#]
        let tool = try ToolProcess(["record", file.path], in: LabNamespace(), through: wrapper)
        #expect(try tool.exitCode() == 74)
        let remedy =
            "raise the limit on file sizes (ulimit -f) or name an output on a file system that takes larger files"
        #expect(try tool.errors.rest() == "netwatch: can't write '\(file.path)': File too large; \(remedy)\n")
    }

    @Test func `a recording ends with 0 when the reader of its pipe is gone`() throws {
        let tool = try Uplinks().tool("record", "-")
        _ = try tool.output.bytes()
        tool.output.end()
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }
}
