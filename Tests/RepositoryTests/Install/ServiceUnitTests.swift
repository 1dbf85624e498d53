import Foundation
import NetworkLab
import Testing

@Suite("Service units", .timeLimit(.minutes(5)))
struct ServiceUnitTests {
    private let lab: InstallLab

    init() throws {
        lab = try InstallLab()
        let outcome = try lab.run("install", ["--tool", lab.tool, "--prefix", lab.root.path + "/there"])
        guard outcome.code == 0 else { throw LabError("install", errno: 0, detail: outcome.errors) }
    }

    private func path(_ unit: String) -> String { "\(lab.root.path)/there/lib/systemd/system/\(unit).service" }

    @Test(
        "systemd finds nothing at fault with them, and little that they could harm",
        .enabled(if: InstallLab.hasCommand("systemd-analyze")),
        arguments: [
            ("netwatch", 1.1), ("netwatch-wait-online", 1.3), ("netwatch-outbox", 1.6), ("netwatch-forward", 1.6),
            ("netwatchd", 1.5),
        ]
    )
    func analyzed(unit: String, exposure: Double) throws { try analyze(unit, exposure) }

    @Test(
        "systemd finds nothing at fault with the drop-in for validation, and little that the service could harm",
        .enabled(if: InstallLab.hasCommand("systemd-analyze"))
    )
    func validation() throws {
        let folder = path("netwatchd") + ".d"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let text = try Repository.read("packaging/systemd/netwatchd-validation.conf")
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/validation.conf"))
        try analyze("netwatchd", 1.5)
    }

    @Test("Without the drop-in for validation, netwatchd asks no server and reaches no other machine")
    func withoutValidation() throws {
        let unit = try lab.read("there/lib/systemd/system/netwatchd.service")
        #expect(unit.contains("\nIPAddressDeny=any\nIPAddressAllow=localhost\n") && !unit.contains("--validat"))
        #expect(unit.contains(" NETWATCHD_VALIDATION=\n"))
        #expect(unit.contains(" $NETWATCHD_VALIDATION $NETWATCHD_OPTIONS\n"))
    }

    private func analyze(_ unit: String, _ exposure: Double) throws {
        let verified = try LabProcess.run(
            "/usr/bin/systemd-analyze",
            ["verify", "--man=no", path(unit)],
            within: .seconds(240)
        )
        #expect(verified.code == 0 && verified.output + verified.errors == "", "\(verified)")
        let judged = try LabProcess.run(
            "/usr/bin/systemd-analyze",
            ["security", "--offline=true", "--no-pager", path(unit)],
            environment: ["LC_ALL": "C.UTF-8"],
            within: .seconds(240)
        )
        let figure = try #require(judged.output.firstMatch(of: /Overall exposure level for .*: ([0-9.]+)/), "\(judged)")
        #expect(try #require(Double(figure.1)) <= exposure)
    }

    @Test("The units see real user IDs, which rules for a range of users need")
    func users() throws {
        // PrivateUsers= would show every other user ID as that of nobody.
        #expect(try Repository.read("packaging/systemd/sandbox").contains("PrivateUsers") == false)
    }

    @Test("A boot continues after the longest wait, whatever the settings file says")
    func bounded() throws {
        let unit = try lab.read("there/lib/systemd/system/netwatch-wait-online.service")
        #expect(unit.contains("\nType=oneshot\n") && unit.contains("\nBefore=network-online.target\n"))
        #expect(unit.contains("\nTimeoutStartSec=90s\n") && unit.contains("\nWantedBy=network-online.target\n"))
        // Only wanted, so that its failure delays no unit.
        #expect(unit.contains("RequiredBy") == false)
        let settings = try Repository.read("packaging/default/netwatch-wait-online")
        for assignment in try #require(unit.firstMatch(of: /(?m)^Environment=(.*)$/)).1.split(separator: " ") {
            #expect(settings.contains("\n#\(assignment)\n"), "\(assignment)")
        }
    }

    @Test("The event service has its socket and nothing else from elsewhere")
    func service() throws {
        let unit = try lab.read("there/lib/systemd/system/netwatchd.service")
        for line in ["IPAddressDeny=any", "IPAddressAllow=localhost", "DynamicUser=yes", "Requires=netwatchd.socket"] {
            #expect(unit.contains("\n\(line)\n"), "\(line)")
        }
        let socket = try lab.read("there/lib/systemd/system/netwatchd.socket")
        #expect(socket.contains("\nListenStream=/run/netwatch/events.sock\n") && socket.contains("\nSocketMode=0666\n"))
        #expect(socket.contains("ExecStart") == false)
    }

    @Test("The event service works without any capability, on a socket that another process passes")
    func activated() throws {
        let text = try lab.read("there/lib/systemd/system/netwatchd.service")
        let line = try #require(text.firstMatch(of: /(?m)^ExecStart=(.*)$/)).1
        let words = line.split(separator: " ").map(String.init).filter { !$0.hasPrefix("$") }
        let path = lab.root.path + "/events.sock"
        let options = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        let readme = try ReadmeLab()
        let process = try readme.start(
            "/usr/bin/python3",
            ["-c", Self.passing, path, "/usr/bin/setpriv"] + options + words
        )
        try process.waitForOutput { $0.contains("\"status\":\"wifi\"") }
        try process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
        // The socket is that of the process that passed it.
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Listens as systemd does, executes a program with the socket, asks it for the state, and ends it on SIGTERM.
    private static let passing = """
        import os, signal, socket, sys
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen(16)
        child = os.fork()
        if child == 0:
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
            os.execv(sys.argv[2], sys.argv[2:])
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        client.sendall(b"GET /v1/state HTTP/1.0\\r\\n\\r\\n")
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
        for line in client.makefile():
            print(line, end="", flush=True)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """

    @Test(
        "What the units run is taken, and works without any capability",
        arguments: ["netwatch", "netwatch-wait-online"]
    )
    func unprivileged(unit: String) throws {
        let text = try lab.read("there/lib/systemd/system/\(unit).service")
        let line = try #require(text.firstMatch(of: /(?m)^ExecStart=(.*)$/)).1
        let values = ["${WAIT_FOR}": "reachable", "${WAIT_TIMEOUT}": "30s", "$WAIT_OPTIONS": "--kind"]
        var words = line.split(separator: " ").map { values[String($0)] ?? String($0) }
        if words.last == "--kind" { words.append("wan0=wifi") }
        let readme = try ReadmeLab()
        let options = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        let process = try readme.start("/usr/bin/setpriv", options + words)
        if unit == "netwatch" {
            try process.waitForOutput { $0.contains("\"status\":\"wifi\"") }
            try process.send(SIGTERM)
        }
        let outcome = try process.finish()
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
    }
}
