import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Synchronization
import Testing

@Suite struct FetchWaitingTests {
    private func fetch(_ lab: UplinkLab, _ arguments: String...) throws -> ToolProcess {
        try ToolProcess(["fetch"] + arguments, in: lab.machine)
    }

    @Test(arguments: Outage.allCases)
    func `waits until the link is back`(outage: Outage) throws {
        let lab = try UplinkLab()
        let server = try JournalServer(in: lab)
        try lab.begin(outage)
        let tool = try waiting(for: server.url, in: lab)
        #expect(server.journal.value == [])
        try lab.end(outage)
        #expect(try tool.output.rest() == "done")
        #expect(try tool.exitCode() == 0)
        #expect(server.journal.value.map(\.method) == ["POST"])
    }

    /// Starts a request that waits, and reads that there is no path.
    private func waiting(for url: String, in lab: UplinkLab) throws -> ToolProcess {
        let tool = try fetch(lab, "--wait", "1000s", "-v", "-d", "x", url)
        // It may wait for the first state at first, or try before that is known, and then learn that there is no path.
        while let line = try tool.errors.line() {
            if line.hasPrefix("* waits for a path") || line.hasSuffix("when there is a path") { return tool }
        }
        throw LabError("wait for a path", errno: EPIPE)
    }

    @Test func `a timeout while waiting is one line, and has its own exit code`() throws {
        let lab = try UplinkLab()
        try lab.begin(.linkDown)
        let tool = try fetch(lab, "--wait", "200ms", "http://192.0.2.1/")
        #expect(try tool.exitCode() == 75)
        #expect(try tool.output.rest() == "")
        let errors = try tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: GET http://192.0.2.1/: no path to 192.0.2.1:80 within 0.2 seconds"))
        #expect(errors.hasSuffix("; give a longer --wait\n") && errors.filter(\.isNewline) == "\n")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func `a signal ends the wait`(signal: Int32) throws {
        let lab = try UplinkLab()
        try lab.begin(.linkDown)
        let tool = try fetch(lab, "--wait", "1000s", "http://192.0.2.1/")
        try tool.waitUntilBlocks(signal)
        tool.send(signal)
        #expect(try tool.exitCode() == 128 + signal)
        #expect(try tool.output.rest() == "")
    }

    @Test(arguments: [
        (["--no-cellular", "--kind", "wan0=wifi"], true), (["--no-cellular", "--kind", "wan0=cellular"], false),
        (["--wifi-only", "--kind", "wan0=wifi"], true), (["--wifi-only", "--kind", "wan0=wired"], false),
        (["--no-expensive", "--kind", "wan0=wired"], true), (["--no-expensive", "--expensive", "wan*"], false),
        (["--no-expensive", "--no-cellular", "--kind", "wan0=cellular"], false), (["--interface", "wan0"], true),
        (["--kind", "wan0=cellular"], true),
    ])
    func `path requirements are applied`(options: [String], isAllowed: Bool) throws {
        let lab = try UplinkLab()
        let server = try JournalServer(in: lab)
        let run = { limit in
            let tool = try ToolProcess(["fetch", "--wait", limit] + options + [server.url], in: lab.machine)
            #expect(try tool.output.rest() == (isAllowed ? "done" : ""))
            #expect(try tool.exitCode() == (isAllowed ? 0 : 75))
            return try tool.errors.rest()
        }
        let isNamed = { (errors: String) in errors.contains("wan0: path.notAllowed") }
        let errors = try isAllowed ? run("1000s") : TimeLimit.lengthened(run, until: isNamed)
        #expect(isNamed(errors) == !isAllowed)
        #expect(server.journal.value.count == (isAllowed ? 1 : 0))
    }

    @Test func `without --wait, an unsuitable path is an immediate error`() throws {
        let lab = try UplinkLab()
        let tool = try fetch(lab, "--no-cellular", "--kind", "wan0=cellular", "http://192.0.2.1/")
        #expect(try tool.exitCode() == 7)
        let errors = try tool.errors.rest()
        #expect(errors.contains("that is not cellular (wan0: path.notAllowed)"))
        #expect(errors.hasSuffix("; --wait DURATION waits for one\n") && errors.filter(\.isNewline) == "\n")
    }
}
