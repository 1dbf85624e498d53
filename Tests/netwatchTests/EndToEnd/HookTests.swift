import CommandLineLab
import Glibc
import NetworkLab
import Testing

@testable import netwatch

/// The hooks' output is on the tool's stderr, so that tests can wait for each line.
@Suite(.timeLimit(.minutes(5))) struct HookTests {
    private let told = #"echo "$NETWATCH_STATUS,$NETWATCH_PREVIOUS,$NETWATCH_INTERFACE""#

    private func watch(_ uplinks: Uplinks, _ arguments: String...) throws -> ToolProcess {
        try ToolProcess(["watch"] + arguments + Uplinks.kinds, in: uplinks.lab)
    }

    @Test func `a hook receives the first state and each change, by environment and stdin`() throws {
        let uplinks = try Uplinks()
        let tool = try watch(uplinks, "--json", "--exec", told + "; cat")
        #expect(try tool.errors.line() == "notReachable,,")
        let first = try #require(try tool.errors.line())
        #expect(try EventSchema.parse(first)["event"] == .string("state"))
        // The tool's stdout has none of the hook's output.
        #expect(try tool.output.line() == first)
        try uplinks.connectWiFi()
        #expect(try tool.errors.line() == "wifi,notReachable,wlan0")
        let second = try #require(try tool.errors.line())
        #expect(try EventSchema.parse(second)["status"] == .string("wifi"))
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
        #expect(try tool.output.rest() == second + "\n")
        #expect(try tool.errors.rest() == "")
    }

    @Test func `bytes that are not UTF-8 are passed on unchanged`() throws {
        let story = #"""
            X=$(printf 'caf\351'); export X
            exec "$0" watch --exec "$(printf 'printf "%%s|\350" "$X" | od -An -tx1 >&2; kill "$PPID"')"
            """#
        let lab = try LabNamespace()
        let outcome = try lab.run {
            try LabProcess.run("/bin/sh", ["-c", story, ToolBinary.path], within: .seconds(120))
        }
        #expect(outcome.code == 0 && outcome.errors == " 63 61 66 e9 7c e8\n", "\(outcome)")
    }

    @Test func `a hook without a verdict does not inherit the one of another hook`() throws {
        let story = #"""
            NETWATCH_VALIDATION=portal; export NETWATCH_VALIDATION
            exec "$0" watch --exec 'echo "${NETWATCH_VALIDATION-unset}" >&2; kill "$PPID"'
            """#
        let lab = try LabNamespace()
        let outcome = try lab.run {
            try LabProcess.run("/bin/sh", ["-c", story, ToolBinary.path], within: .seconds(120))
        }
        #expect(outcome.code == 0 && outcome.errors == "unset\n", "\(outcome)")
    }

    @Test func `changes during a hook are coalesced into the newest`() throws {
        let uplinks = try Uplinks()
        let pipe = try TemporaryFile()
        #expect(unlink(pipe.path) == 0 && mkfifo(pipe.path, 0o600) == 0)
        let first = "{ echo first; read -r go < '\(pipe.path)'; }"
        let hook = "[ -n \"$NETWATCH_PREVIOUS\" ] && \(told) || \(first)"
        let tool = try watch(uplinks, "--exec", hook, "--exec-timeout", "1000s")
        #expect(try tool.errors.line() == "first")
        func expectLine(_ status: String) throws { #expect(try tool.output.line()?.contains(" \(status) ") == true) }
        try expectLine("notReachable")
        try uplinks.connectWiFi()
        try expectLine("wifi")
        try uplinks.lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try expectLine("notReachable")
        try uplinks.connectCellular()
        try expectLine("cellular")
        // For reading too, so that opening does not depend on the hook's progress.
        let writer = open(pipe.path, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        #expect(write(writer, "go\n", 3) == 3)
        #expect(try tool.errors.line() == "cellular,notReachable,wwan0")
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `a hook that hangs is terminated with its children`() throws {
        let uplinks = try Uplinks()
        let stubborn = "trap '' TERM; echo begun; sleep 1000 & wait; sleep 1000"
        let (tool, limit) = try TimeLimit.lengthened { limit in
            (try watch(uplinks, "--exec", "sh -c \"\(stubborn)\"; echo over", "--exec-timeout", limit), limit)
        } until: { tool, _ in
            try tool.errors.line() == "begun"
        }
        let line = try #require(try tool.errors.line())
        #expect(line.hasPrefix("netwatch: the hook 'sh -c "))
        let words = ["100ms": "100 ms", "1s": "1 s", "10s": "10 s", "100s": "100 s"][limit] ?? ""
        #expect(line.hasSuffix(" did not end within \(words), and was ended"), "\(line)")
        tool.send(SIGINT)
        #expect(try tool.exitCode() == 0)
        // The pipe ends only when no process of the group is left.
        #expect(try tool.errors.rest() == "")
    }

    @Test(arguments: [
        ("exit 3", "ended with 3"), ("kill -9 $$", "was ended by signal 9"),
        ("no-such-command-here 2>/dev/null", "ended with 127: the shell did not find the command"),
    ])
    func `a failed hook is reported`(command: String, words: String) throws {
        let uplinks = try Uplinks()
        let tool = try watch(uplinks, "--exec", command)
        #expect(try tool.errors.line() == "netwatch: the hook '\(command)' \(words)")
        try uplinks.connectWiFi()
        #expect(try tool.errors.line() == "netwatch: the hook '\(command)' \(words)")
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
    }

    @Test func `at the end a running hook keeps its time limit, and a second signal terminates it`() throws {
        let tool = try watch(
            Uplinks(),
            "--exec",
            "echo begun; read -r line; trap 'echo asked; exit 1' TERM; sleep 1000 & wait"
        )
        #expect(try tool.errors.line() == "begun")
        tool.send(SIGTERM)
        tool.send(SIGINT)
        var line = try tool.errors.line()
        while let other = line, !other.contains("was ended") { line = try tool.errors.line() }
        #expect(line?.hasSuffix("' was ended by a second signal") == true, "\(line ?? "")")
        #expect(try tool.exitCode() == 0)
    }

    @Test(arguments: [
        (["--exec", ""], "The command of --exec is empty"), (["--exec-timeout", "5s"], "--exec-timeout needs --exec"),
        (["--exec", "true", "--exec-timeout", "0s"], "must be longer than 0"),
        (["--exec", "true", "--exec-timeout", "5"], "the unit is missing"),
        (["--json", "--format", "{status}"], "--json and --format exclude each other"),
        (["--format", "{statsu}"], "at character 1: there is no field 'statsu'"),
    ])
    func `invalid arguments are refused`(arguments: [String], words: String) throws {
        let tool = try ToolProcess(["watch"] + arguments, in: LabNamespace())
        #expect(try tool.exitCode() == 64)
        let text = try tool.errors.rest()
        #expect(text.contains(words) && text.filter(\.isNewline) == "\n", "\(text)")
    }

    @Test func `lines are printed by a template`() throws {
        let uplinks = try Uplinks()
        let template = #"{seq}\t{previous}>{status}\t{interface} {ipv4}"#
        let tool = try watch(uplinks, "--format", template)
        #expect(try tool.output.line() == "1\t->notReachable\t- -")
        try uplinks.connectWiFi()
        #expect(try tool.output.line() == "2\tnotReachable>wifi\twlan0 192.0.2.2")
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
        let status = try ToolProcess(["status", "--format", "{time} {utc} {status}"], in: uplinks.lab)
        let text = try #require(try status.output.line())
        let stamp = #"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}"#
        #expect(try text.wholeMatch(of: Regex("\(stamp)[+-]\\d\\d:\\d\\d \(stamp)Z wifi")) != nil, "\(text)")
    }
}
