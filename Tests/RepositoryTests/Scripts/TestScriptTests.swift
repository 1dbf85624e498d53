import Foundation
import NetworkLab
import Testing

@Suite("scripts/test")
struct TestScriptTests {
    private let stage: ScriptStage

    init() throws {
        stage = try ScriptStage()
        try stage.stand(in: "true")
        try stage.stand(in: "unshare", "shift; exec \"$@\"")
    }

    @Test("It builds outside, and runs the tests in separate namespaces with the given arguments")
    func runs() throws {
        let outcome = try stage.run("test", "--filter", "a b")
        #expect(outcome.code == 0)
        #expect(outcome.errors == "test: building\ntest: running the tests (unshare -rn)\n")
        let path = "--package-path \(stage.root.path)"
        #expect(
            try stage.calls(of: "unshare", "ip", "swift") == [
                "unshare -rn true",
                "swift build \(path) --build-tests",
                #"unshare -rn sh -c ip link set dev lo up && exec "$@" sh swift test \#(path) --skip-build --filter a b"#,
                "ip link set dev lo up",
                "swift test \(path) --skip-build --filter a b",
            ]
        )
    }

    @Test("Options that affect the build are passed to the build too")
    func buildArguments() throws {
        let arguments = "--sanitize=thread --scratch-path it's"
        let outcome = try stage.run("test", arguments.split(separator: " ").map(String.init) + ["--filter", "X"])
        #expect(outcome.code == 0)
        let path = "--package-path \(stage.root.path)"
        #expect(
            try stage.calls(of: "swift") == [
                "swift build \(path) --build-tests \(arguments)",
                "swift test \(path) --skip-build \(arguments) --filter X",
            ]
        )
    }

    @Test("Without a selection each test runs in one of five groups, and the last line has the totals")
    func groups() throws {
        try stage.stand(in: "swift", Self.report(tests: 7, skipped: 2, failures: 0))
        let outcome = try stage.run("test", "--skip-build", "--skip", "Slow")
        #expect(outcome.code == 0)
        #expect(outcome.output == "All groups together: 35 tests, of which 10 were skipped and 0 failed; passed\n")
        let names = ["client", "computing", "programs", "storage", "others"]
        let lines = ["building", "running the tests (unshare -rn)"] + names.map { "group '\($0)'" }
        #expect(outcome.errors == lines.map { "test: \($0)\n" }.joined())
        let calls = try stage.calls(of: "swift").dropFirst().map { $0.split(separator: " ").map(String.init) }
        #expect(calls.allSatisfy { $0.contains("Slow") })
        // The last group omits the tests of the first four.
        let chosen = calls.flatMap { values(of: "--filter", in: $0) }
        #expect(chosen.count == 4)
        #expect(calls.last.map { values(of: "--skip", in: $0) } == ["Slow"] + chosen)
    }

    @Test("A failed group stops no other, its code is the script's, and the last lines name the failures")
    func failingGroup() throws {
        let report = Self.report(tests: 7, skipped: 0, failures: 3)
        let words =
            #"echo '✘ Test "x" recorded an issue at A.swift:1:2: no'; echo '✔ Test "y" passed after 1 seconds.' >&2"#
        try stage.stand(in: "swift", "case $* in *--filter*RepositoryTests*) \(report); \(words); exit 9;; esac")
        let outcome = try stage.run("test")
        #expect(outcome.code == 9)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.prefix(2).sorted() == [#"✔ Test "y" passed after 1 seconds."#, lines.last])
        #expect(
            lines.dropFirst(2) == [
                "All groups together: 7 tests, of which 0 were skipped and 3 failed; failed in: programs",
                "Group 'programs' failed:",
                #"✘ Test "x" recorded an issue at A.swift:1:2: no"#,
            ]
        )
        #expect(try stage.calls(of: "swift").count == 6)
    }

    @Test("If asked to, groups run at the same time, and each is reported")
    func sideBySide() throws {
        let report = Self.report(tests: 7, skipped: 0, failures: 1)
        // Each waits until the other one has started.
        let meet = """
            meet() {
                : >"$HOME/$1"
                tries=0
                until [ -e "$HOME/$2" ]; do
                    tries=$((tries + 1))
                    [ $tries -lt 6000 ] || { echo "$2 did not start"; exit 7; }
                    sleep 0.01
                done
            }
            case "$0 $*" in
            *--show-bin-path*) echo "$HOME/bin" ;;
            *xctest*PathProbing*) meet computing client ;;
            *xctest*Repository*) meet programs others; echo '✘ Test "x" recorded an issue'; \(report); exit 9 ;;
            *xctest*DurableStore*) meet storage others ;;
            *"--skip ^"*) meet others programs; meet others storage ;;
            *NetworkClientTests*) meet client computing ;;
            esac
            """
        try stage.provide("sleep")
        try stage.stand(in: "swift", meet)
        try stage.stand(in: "netwatchPackageTests.xctest", meet)
        let variables = stage.environment.merging(["NETWATCH_SIDE_BY_SIDE": "1"]) { $1 }
        let script = stage.root.appending(path: "scripts/test").path
        let outcome = try LabProcess.run(script, [], environment: variables)
        #expect(outcome.code == 9)
        #expect(
            outcome.output.split(separator: "\n").suffix(4) == [
                #"✘ Test "x" recorded an issue"#,
                "All groups together: 7 tests, of which 0 were skipped and 1 failed; failed in: programs",
                "Group 'programs' failed:",
                #"✘ Test "x" recorded an issue"#,
            ]
        )
    }

    @Test("The ten slowest tests of all groups are listed, slowest first")
    func slowest() throws {
        let cases = (1...12).map {
            "<testcase classname=\"A.B\" name=\"`c &amp; \($0)`()\" time=\"\($0).25\" />"
        }
        let write = "echo '\(cases.joined(separator: "\n"))' >\"$file\""
        let report = "for file; do case $file in *.xml) \(write);; esac; done"
        try stage.stand(in: "swift", "case $* in *--filter*RepositoryTests*) \(report);; esac")
        let lines = try stage.run("test").errors.split(separator: "\n").drop { $0 != "The slowest tests:" }
        #expect(lines.count == 11)
        #expect(lines.dropFirst().first == "    12.2 s  A.B/`c & 12`()")
        #expect(lines.last == "     3.2 s  A.B/`c & 3`()")
    }

    @Test("A group that fails without a listed failure is reported with the end of its output")
    func quietGroup() throws {
        try stage.stand(in: "swift", "case $* in *test*--filter*RepositoryTests*) echo 'no space left'; exit 9;; esac")
        #expect(try stage.run("test").output.hasSuffix("Group 'programs' failed:\nno space left\n"))
    }

    @Test("If a signal ends it, it names the tests that were running")
    func ended() throws {
        let group = #"echo '◇ Test "slow" started.'; kill -TERM "$(cat "$HOME/script")""#
        try stage.stand(in: "swift", "case $* in *--filter*RepositoryTests*) \(group);; esac")
        let script = "echo $$ >\"$HOME/script\"; exec \"$HOME/scripts/test\""
        let outcome = try LabProcess.run("/bin/sh", ["-c", script], environment: stage.environment)
        #expect(outcome.code == 143)
        #expect(outcome.output.hasSuffix("Group 'programs' failed:\nThese tests ran then:\n  \"slow\"\n"))
    }

    @Test("If a signal ends it, groups that run at the same time end too")
    func endedSideBySide() throws {
        try stage.provide("sleep")
        let group = """
            case "$0 $*" in
            *--show-bin-path*) echo "$HOME/bin" ;;
            *xctest*Repository*)
                trap 'kill $!; : >"$HOME/ended"; exit' TERM
                sleep 600 &
                : >"$HOME/group"
                wait
                ;;
            *"--skip ^"*) until [ -e "$HOME/group" ]; do sleep 0.01; done; kill -TERM "$(cat "$HOME/script")" ;;
            esac
            """
        try stage.stand(in: "swift", group)
        try stage.stand(in: "netwatchPackageTests.xctest", group)
        let script = "echo $$ >\"$HOME/script\"; NETWATCH_SIDE_BY_SIDE=1 exec \"$HOME/scripts/test\""
        let outcome = try LabProcess.run("/bin/sh", ["-c", script], environment: stage.environment)
        #expect(outcome.code == 143)
        #expect(FileManager.default.fileExists(atPath: stage.root.appending(path: "ended").path))
    }

    @Test("Other requests are a single run", arguments: ["--filter", "list", "--list-tests", "--help"])
    func oneRun(argument: String) throws {
        #expect(try stage.run("test", argument).output == "")
        #expect(try stage.calls(of: "swift").count == 2)
    }

    /// The values of an option in a call.
    private func values(of option: String, in call: [String]) -> [String] {
        zip(call, call.dropFirst()).filter { $0.0 == option }.map(\.1)
    }

    /// A line of shell that writes the report of `swift test` to the requested file.
    private static func report(tests: Int, skipped: Int, failures: Int) -> String {
        let counts = "tests=\"\(tests)\" failures=\"\(failures)\" skipped=\"\(skipped)\""
        let write = "echo '<testsuite name=\"TestResults\" errors=\"0\" \(counts) time=\"1.5\">' >\"$file\""
        return "for file; do case $file in *.xml) \(write);; esac; done"
    }

    @Test("Root without user namespaces runs without one")
    func withoutUserNamespace() throws {
        try stage.stand(in: "unshare", "[ $1 = -n ] || exit 1; shift; exec \"$@\"")
        #expect(try stage.run("test").code == 0)
        // The log is read once, as reading clears it.
        let calls = try stage.calls(of: "unshare", "swift")
        #expect(calls.contains { $0.hasPrefix("unshare -n sh -c") })
        #expect(calls.last?.hasPrefix("swift test") == true)
    }

    @Test("If namespaces are unavailable, two lines have the remedy, and nothing is built")
    func refused() throws {
        try stage.stand(in: "unshare", "exit 1")
        let outcome = try stage.run("test")
        #expect(outcome.code == 77)
        #expect(outcome.errors.contains("kernel.unprivileged_userns_clone=1"))
        #expect(try stage.calls(of: "swift").isEmpty)
    }

    @Test("A failed build ends it with the build's code and the compiler's errors")
    func failedBuild() throws {
        try stage.stand(in: "swift", "echo a.swift:1:2: error: no such thing; echo '[3/3] Compiling b'; exit 3")
        let outcome = try stage.run("test")
        #expect(outcome.code == 3)
        #expect(outcome.errors.hasSuffix("test: the build failed:\na.swift:1:2: error: no such thing\n"))
        #expect(try stage.calls(of: "swift").count == 1)
    }
}
