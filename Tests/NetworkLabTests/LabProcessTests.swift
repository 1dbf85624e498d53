import Glibc
import NetworkLab
import Testing

@Suite("LabProcess")
struct LabProcessTests {
    @Test("Exit code, standard output and standard error are separate")
    func outcome() throws {
        let outcome = try LabProcess.run("/bin/sh", ["-c", "printf '%s' \"$1\"; echo e >&2; exit 7", "sh", "a b"])
        #expect(outcome.code == 7)
        #expect(outcome.output == "a b")
        #expect(outcome.errors == "e\n")
    }

    @Test("A signal's number is reported as a shell does")
    func signal() throws {
        #expect(try LabProcess.run("/bin/sh", ["-c", "kill -TERM $$"]).code == 128 + SIGTERM)
    }

    @Test("The environment has only the given variables")
    func environment() throws {
        #expect(try LabProcess.run("/usr/bin/env", environment: ["A": "1"]).output == "A=1\n")
    }

    @Test("A program that does not end is killed with its children, with a timeout error")
    func limit() throws {
        let process = try LabProcess("/bin/sh", ["-c", "echo begun; sleep 100; true"])
        try process.waitForOutput { $0 == "begun\n" }
        let error = #expect(throws: LabError.self) { try process.finish(within: .milliseconds(200)) }
        #expect(error?.errno == ETIMEDOUT)
        #expect(error?.detail == #"seen: ["begun\n", ""]"#)
    }

    @Test("A program's output is available while it runs, and it can receive a signal")
    func live() throws {
        let script = "trap 'echo caught; exit 3' TERM; echo ready; while :; do read -r _ <\"$0\"; done"
        let process = try LabProcess("/bin/sh", ["-c", script, "/dev/null"])
        #expect(try process.waitForOutput { $0.hasSuffix("\n") } == "ready\n")
        try process.send(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.code == 3)
        #expect(outcome.output == "ready\ncaught\n")
    }

    @Test("A program runs in the given directory")
    func directory() throws {
        #expect(try LabProcess.run("/bin/pwd", directory: "/proc").output == "/proc\n")
    }

    @Test("A program that does not exist is an error")
    func missing() {
        #expect(throws: LabError("start /no/such/file", errno: ENOENT)) { try LabProcess.run("/no/such/file") }
    }

    @Test("A program inherits no files of this process")
    func files() throws {
        let copy = try systemCall("dup") { dup(STDERR_FILENO) }
        defer { close(copy) }
        #expect(try LabProcess.run("/usr/bin/test", ["-e", "/proc/self/fd/2"]).code == 0)
        #expect(try LabProcess.run("/usr/bin/test", ["-e", "/proc/self/fd/\(copy)"]).code == 1)
    }

    @Test("A program that is started in a namespace is in that namespace")
    func namespace() throws {
        let lab = try LabNamespace()
        try lab.rtnl.createIFB("ifb77")
        let outcome = try lab.run { try LabProcess.run("/bin/cat", ["/proc/self/net/dev"]) }
        #expect(outcome.output.contains("ifb77"))
    }
}
