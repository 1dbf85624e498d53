import Foundation
import Glibc
import HTTPLab
import NetworkLab
import Testing

@Suite("README: commands")
struct ReadmeCommandTests {
    private let readme: ReadmeText

    init() throws { readme = try ReadmeText() }

    /// A call of the tool, and its expected outcome.
    struct Call: Sendable {
        var arguments: [String]
        var code: Int32
        /// Whether there is a default route.
        var isReachable = true
        /// For a call that runs until it is terminated: the number of printed bytes after which it is.
        var liveUntil: Int?
    }

    /// The table's rows, with calls for each form that they show.
    static let rows: [String: [Call]] = [
        "`netwatch`, `netwatch watch [--json] [--roams] [--format TEMPLATE] [--exec COMMAND]`": [
            .init(arguments: [], code: 0, liveUntil: 1),
            .init(arguments: ["watch"], code: 0, liveUntil: 1),
            .init(arguments: ["watch", "--json"], code: 0, liveUntil: 1),
            .init(arguments: ["watch", "--roams"], code: 0, liveUntil: 1),
            .init(arguments: ["watch", "--format", "{time} {status}"], code: 0, liveUntil: 1),
            .init(arguments: ["watch", "--exec", "true"], code: 0, liveUntil: 1),
        ],
        "`netwatch status [--json] [--format TEMPLATE]`": [
            .init(arguments: ["status", "--format", "{status}"], code: 0),
            .init(arguments: ["status"], code: 0),
            .init(arguments: ["status", "--json"], code: 0),
            .init(arguments: ["status"], code: 1, isReachable: false),
        ],
        "`netwatch wait [--for STATE] [--to HOST] [--timeout 30s]`": [
            .init(arguments: ["wait"], code: 0),
            .init(arguments: ["wait", "--for", "wifi", "--timeout", "30s"], code: 0),
            .init(arguments: ["wait", "--to", "192.0.2.7"], code: 0),
            .init(arguments: ["wait", "--for", "cellular", "--timeout", "1ms"], code: 75),
        ],
        "`netwatch run [--for STATE] [--no-cellular] [--timeout 30s] [--retries N] -- COMMAND`": [
            .init(arguments: ["run", "--", "/bin/sh", "-c", "exit 7"], code: 7),
            .init(
                arguments: ["run", "--for", "wifi", "--timeout", "30s", "--retries", "2", "--", "/bin/true"],
                code: 0
            ),
            .init(arguments: ["run", "--no-cellular", "--timeout", "30s", "--", "/bin/true"], code: 0),
            .init(arguments: ["run", "--timeout", "1ms", "--", "/bin/true"], code: 75, isReachable: false),
        ],
        // Where the limit is not what matters, it is one that no busy machine reaches.
        "`netwatch explain [HOST]`": [
            .init(arguments: ["explain", "--timeout", "100s"], code: 0),
            .init(arguments: ["explain", "192.0.2.7", "--timeout", "100s"], code: 0),
            .init(arguments: ["explain", "--timeout", "100s"], code: 1, isReachable: false),
        ],
        "`netwatch status`, `watch`, `explain` with `--validate URL`": [
            .init(arguments: ["status", "--validate", "http://127.0.0.1:1/"], code: 0),
            .init(arguments: ["explain", "--validate", "http://127.0.0.1:1/", "--timeout", "100s"], code: 0),
            .init(arguments: ["watch", "--json", "--validate", "http://127.0.0.1:1/"], code: 0, liveUntil: 1),
            .init(arguments: ["status", "--validate", "http://127.0.0.1:1/"], code: 1, isReachable: false),
        ],
        "`netwatch wait --validated --validate URL`, `run --validated …`": [
            .init(arguments: ["wait", "--validated", "--timeout", "1s", "--validate", "tcp://127.0.0.1:1"], code: 75),
            .init(arguments: ["run", "--validated", "--", "/bin/true"], code: 64),
        ],
        "`netwatch validate --validate URL [--once]`": [
            .init(arguments: ["validate", "--once", "--validate", "http://127.0.0.1:1/"], code: 0)
        ],
        // A recording's header is written before anything is read; the kernel's tables follow it.
        "`netwatch record FILE`": [.init(arguments: ["record", "-"], code: 0, liveUntil: 1000)],
        "`netwatch replay FILE [--json] [--roams]`": [
            .init(arguments: ["replay", fixture], code: 0),
            .init(arguments: ["replay", fixture, "--json", "--roams"], code: 0),
            .init(arguments: ["replay", "/bin/sh"], code: 65),
        ],
        "`netwatch history FILE [--since WHEN] [--until WHEN] [--svg FILE]`": [
            .init(arguments: ["history", lines, "--since", "2026-11-20", "--until", "now", "--svg", picture], code: 0),
            .init(arguments: ["history", "/bin/sh"], code: 65),
        ],
        "`netwatch trace HOST [--tcp PORT] [--names] [--json]`": [
            .init(arguments: ["trace", "127.0.0.1", "--timeout", "100s"], code: 0),
            .init(arguments: ["trace", "127.0.0.1", "--tcp", "80", "--names", "--json", "--timeout", "100s"], code: 0),
            .init(arguments: ["trace", "198.51.100.77", "--timeout", "300ms"], code: 1),
            .init(arguments: ["trace", "198.51.100.77", "--timeout", "100s"], code: 2, isReachable: false),
        ],
        // The replies are in the README's lines of shell.
        "`netwatch serve [--socket PATH] [--listen 127.0.0.1:PORT]`": [
            .init(arguments: ["serve", "--help"], code: 0),
            .init(arguments: ["serve", "--listen", "0.0.0.0:8787"], code: 64),
        ],
        "`netwatch fetch URL`": [
            .init(arguments: ["fetch", "http://127.0.0.1:1/"], code: 7),
            .init(arguments: ["fetch", "http://198.51.100.7/"], code: 7, isReachable: false),
        ],
        "`netwatch forward mqtts://BROKER`": [
            .init(arguments: ["forward", "broker.example"], code: 64),
            .init(arguments: ["forward", "mqtts://broker.example", "--node", "a/b"], code: 64),
        ],
        "`netwatch fleet mqtts://BROKER [--once]`": [
            .init(arguments: ["fleet", "broker.example"], code: 64),
            .init(arguments: ["fleet", "mqtt://127.0.0.1:1", "--once", "--timeout", "1s"], code: 2),
        ],
        "`netwatch outbox add URL`, `list`, `run [--once]`": [
            .init(arguments: ["outbox", "add", "--box", box, "https://192.0.2.7/"], code: 0),
            .init(arguments: ["outbox", "list", "--box", box + "-other"], code: 66),
            .init(arguments: ["outbox", "add", "192.0.2.7"], code: 64),
        ],
    ]

    /// The output of a monitor, and the file of its picture.
    private static let lines = Repository.root.appending(path: "Tests/Fixtures/history.jsonl").path
    private static let picture = "FOLDER/picture.svg"

    private static let box = "FOLDER/box"

    private static let fixture = Repository.root.appending(path: "Tests/Fixtures/story-nanoseconds.pcap").path

    @Test("The table of commands has the rows that these tests run")
    func table() {
        #expect(readme.rows["command"]?.sorted() == Self.rows.keys.sorted())
    }

    @Test("Each command of the table has the described effect and exit code", arguments: rows.keys.sorted())
    func commands(row: String) throws {
        let folder = try LabFolder()
        for call in try #require(Self.rows[row]) {
            let lab = try ReadmeLab(isReachable: call.isReachable)
            let arguments = call.arguments.map { $0.replacing("FOLDER", with: folder.path) }
            let tool = try lab.start(BuiltProducts.path(of: "netwatch"), arguments)
            if let count = call.liveUntil {
                try tool.waitForOutput { $0.utf8.count >= count }
                try tool.send(SIGINT)
            }
            let outcome = try tool.finish()
            #expect(outcome.code == call.code, "\(call): \(outcome)")
        }
    }

    @Test("The common options are accepted, and invalid ones give one line and 64")
    func options() throws {
        for option in ["--netns NAME|PATH|PID", "--kind 'wwan*=cellular'", "--settle 500ms"] {
            #expect(readme.spans.contains(option))
        }
        let lab = try ReadmeLab()
        let options = ["--netns", "\(getpid())", "--kind", "wan*=cellular", "--settle", "500ms"]
        let arguments = ["status", "--netns", lab.namespace.path] + options.dropFirst(2)
        let status = try lab.start(BuiltProducts.path(of: "netwatch"), arguments).finish()
        #expect(status.output.contains("cellular"))
        #expect(try lab.start(BuiltProducts.path(of: "netwatch"), ["status"] + options.prefix(2)).finish().code <= 1)
        let refused = try lab.start(BuiltProducts.path(of: "netwatch"), ["--settle", "soon"]).finish()
        #expect(refused.code == 64)
        #expect(refused.errors.split(separator: "\n").count == 1)
    }

    @Test("Completions are printed for each shell", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        #expect(readme.spans.contains("netwatch --generate-completion-script bash"))
        #expect(readme.spans.contains(shell) || shell == "bash")
        let tool = try LabProcess.run(BuiltProducts.path(of: "netwatch"), ["--generate-completion-script", shell])
        #expect(tool.code == 0)
        #expect(tool.output.contains("netwatch"))
    }
}
