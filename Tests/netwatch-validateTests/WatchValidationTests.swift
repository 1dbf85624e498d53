import CommandLineLab
import Glibc
import HTTPLab
import NetwatchCore
import NetworkLab
import Testing
import ValidationCore

/// `netwatch watch`, `wait` and `run` with `--validate`.
@Suite(.blocksItsThread, .timeLimit(.minutes(10))) struct WatchValidationTests {
    private func members(_ line: String) throws -> [String: JSONText] {
        try #require(try JSONText(Array(line.utf8)[...]).members)
    }

    private func isOf(_ verdict: String) -> (String) -> Bool {
        { $0.contains(#""event":"validation""#) && $0.contains(#""verdict":"\#(verdict)""#) }
    }

    @Test func `a change of the verdict is an event of its own, and lines are numbered consecutively`() throws {
        let lab = try ValidateLab(.redirect("https://hotel.example/login"))
        let tool = try lab.tool("watch", "--json")
        var lines = try tool.lines(until: isOf("portal"))
        lab.answer.update { $0 = .noContent }
        lines += try tool.lines(until: isOf("validated"))
        try lab.uplinks.home.rtnl.setDown("wlan0")
        lines += try tool.lines { $0.contains(#""status":"cellular""#) }
        let all = try lines.map(members)
        #expect(all.first?["event"]?.string == "state")
        #expect(all.compactMap { $0["seq"]?.wholeNumber } == (1...UInt64(all.count)).map { $0 })
        let events = all.filter { $0["event"]?.string == "validation" }
        #expect(events.allSatisfy { $0["status"]?.string == "wifi" && $0["previous"]?.string == "wifi" })
        // Each path that an address joins has its own verdict, so that one may be told again.
        let verdicts = events.compactMap { $0["validation"]?.members?["verdict"]?.string }
        #expect(zip(verdicts, verdicts.dropFirst()).filter { $0 != $1 }.map(\.1) == ["validated"])
        #expect(verdicts.first == "portal")
        #expect(all.last?["validation"]?.members?["verdict"]?.string ?? "notChecked" == "notChecked")
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
    }

    @Test func `a metered path is not asked by a watch, unless that is allowed`() throws {
        let lab = try ValidateLab()
        try lab.uplinks.home.rtnl.setDown("wlan0")
        #expect(try lab.tool("wait", "--for", "cellular", "--validated").exitCode() == 0)
        let before = lab.requests[1]
        let sparing = try lab.tool("watch", "--json")
        _ = try sparing.output.line()
        let generous = try lab.tool("watch", "--json", "--validate-metered")
        _ = try generous.lines(until: isOf("validated"))
        #expect(lab.requests[1] > before)
        sparing.send(SIGTERM)
        #expect(try !sparing.output.rest().contains(#""event":"validation""#))
    }

    @Test func `a hook gets the verdict`() throws {
        let lab = try ValidateLab(.page)
        let command = #"echo "$NETWATCH_STATUS:$NETWATCH_VALIDATION" >&2"#
        let tool = try lab.tool("watch", "--exec", command)
        var line = try tool.errors.line()
        while let text = line, text != "wifi:portal" { line = try tool.errors.line() }
        #expect(line == "wifi:portal")
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
    }

    @Test func `a wait ends when the portal lets the machine through`() throws {
        let lab = try ValidateLab(.page)
        let watch = try lab.tool("watch", "--json")
        let tool = try lab.tool("wait", "--validated")
        _ = try watch.lines(until: isOf("portal"))
        lab.answer.update { $0 = .noContent }
        #expect(try tool.exitCode() == 0)
        #expect(try tool.output.rest() == "" && tool.errors.rest() == "")
    }

    @Test func `the timeout of a wait names the portal`() throws {
        let lab = try ValidateLab(.page)
        let watch = try lab.tool("watch", "--json")
        _ = try watch.lines(until: isOf("portal"))
        let errors = try TimeLimit.lengthened { limit in
            let tool = try lab.tool("wait", "--validated", "--timeout", limit)
            #expect(try tool.exitCode() == 75)
            return try tool.errors.rest()
        } until: {
            $0.contains("portal")
        }
        let words =
            "the state is wifi, but a portal answers in the place of servers (waited for reachable, --validated)"
        #expect(errors == "netwatch: the time is up: \(words); give a longer --timeout\n")
    }

    @Test func `a command starts once the path is validated, and keeps its exit status`() throws {
        let lab = try ValidateLab(.page)
        let watch = try lab.tool("watch", "--json")
        let tool = try lab.tool("run", "--validated", "--", "sh", "-c", "echo started; exit 7")
        _ = try watch.lines(until: isOf("portal"))
        lab.answer.update { $0 = .noContent }
        #expect(try tool.output.line() == "started")
        #expect(try tool.exitCode() == 7)
        #expect(try lab.requests[0] > 1 && tool.errors.rest() == "")
    }

    @Test func `validation goes on after its process was killed`() throws {
        let lab = try ValidateLab()
        let tool = try lab.tool("watch", "--json")
        _ = try tool.lines(until: isOf("validated"))
        let children = tool.children
        #expect(children.count == 1)
        lab.answer.update { $0 = .page }
        for child in children { kill(child, SIGKILL) }
        #expect(try tool.lines(until: isOf("portal")).last.map(isOf("portal")) == true)
        tool.send(SIGTERM)
        #expect(try tool.exitCode() == 0)
    }

    @Test func `the process of validation ends with the tool, even if that is killed`() throws {
        let lab = try ValidateLab()
        let tool = try lab.tool("watch", "--json")
        _ = try tool.lines(until: isOf("validated"))
        let children = tool.children
        #expect(children.count == 1)
        tool.send(SIGKILL)
        #expect(try tool.exitCode() == 1000 + SIGKILL)
        let deadline = ContinuousClock.now + .seconds(120)
        for child in children {
            while ToolProcess.isRunning(child), ContinuousClock.now < deadline { Polling.pause() }
            #expect(!ToolProcess.isRunning(child))
        }
    }
}
