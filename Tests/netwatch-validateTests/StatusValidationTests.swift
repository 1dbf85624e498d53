import CommandLineLab
import Glibc
import NetwatchCore
import NetworkLab
import Testing
import ValidationCore

/// `netwatch status` and `netwatch explain` with `--validate`, and `netwatch validate`.
@Suite(.blocksItsThread) struct StatusValidationTests {
    private func report(in line: String?) throws -> ValidationSummary? {
        let line = try #require(line)
        let members = try #require(try JSONText(Array(line.utf8)[...]).members)
        return try members["validation"].map { try ValidationSummary($0) }
    }

    @Test func `the status has a line and a member about a server that answers`() throws {
        let lab = try ValidateLab()
        let text = try lab.tool("status")
        #expect(try text.output.line()?.contains(" wifi wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1") == true)
        #expect(try text.output.line() == "validation: wifi, and servers on the internet answer")
        #expect(try text.output.line() == nil && text.exitCode() == 0)
        let report = try #require(try report(in: lab.lines("status", "--json").first))
        #expect(report.verdict == .validated && report.basis == .probes && report.checkedAt != nil)
        #expect(report.path?.name == "wlan0" && report.path?.isMetered == false)
        #expect(lab.requests[0] >= 2 && lab.requests[1] == 0)
    }

    @Test func `a portal is named with its page, which no terminal obeys; the status stays`() throws {
        let lab = try ValidateLab(.redirect(ValidateLab.login))
        let text = try lab.tool("status")
        _ = try text.output.line()
        let shown = #"https://hotel.example/login?\u{9b}31m"#
        #expect(try text.output.line() == "validation: wifi, but a portal asks for a login at \(shown)")
        #expect(try text.exitCode() == 0)
        let line = try #require(try lab.lines("status", "--json").first)
        #expect(line.contains(#""loginURL":"https://hotel.example/login?\u009b31m""#))
        #expect(try report(in: line)?.verdict == .portal(.init(loginURL: ValidateLab.login)))
        let format = "{status} {validation} {login}"
        #expect(try lab.lines("status", "--format", format) == ["wifi portal \(shown)"])
    }

    @Test func `a path that is metered is asked because somebody wants to know`() throws {
        let lab = try ValidateLab()
        try lab.uplinks.home.rtnl.setDown("wlan0")
        #expect(try lab.tool("wait", "--for", "cellular", "--validated").exitCode() == 0)
        let report = try report(in: lab.lines("status", "--json").first)
        #expect(report?.verdict == .validated && report?.path?.isMetered == true)
        #expect(lab.requests[1] >= 2)
    }

    @Test func `without a path nothing is asked`() throws {
        let tool = try ToolProcess(["status", "--validate", "http://192.0.2.7/"], in: LabNamespace())
        let lines = try tool.output.rest().split(separator: "\n")
        #expect(lines.count == 2 && lines[1] == "validation: not checked: there is no path")
        #expect(try tool.exitCode() == 1)
    }

    @Test func `without the option nothing is sent, and the output has no member of it`() throws {
        let lab = try ValidateLab()
        let explanation = ["explain", "--timeout", "100s"]
        for arguments in [["status", "--json"], ["status"], explanation, ["watch", "--json"]] {
            let tool = try ToolProcess(arguments + ValidateLab.kinds, in: lab.uplinks.home)
            let line = try #require(try tool.output.line())
            #expect(!line.contains("validation"))
            #expect(tool.children.isEmpty)
            tool.send(SIGTERM)
            #expect(try !tool.output.rest().contains("validation"))
            _ = try tool.exitCode()
        }
        #expect(lab.requests == [0, 0])
    }

    @Test func `an explanation has the sentence, the fix and what each server has answered`() throws {
        let lab = try ValidateLab(.page)
        let lines = try lab.lines("explain", "--timeout", "100s")
        #expect(lines.count > 6)
        #expect(lines.contains("  but: a portal answers in the place of servers"))
        #expect(lines.contains("    fix: open an http:// page in a browser, and log in"))
        #expect(
            lines.suffix(3) == [
                "validation: wifi, but a portal answers in the place of servers",
                "  fix: open an http:// page in a browser, and log in", "  \(lab.url): another answers in its place",
            ]
        )
    }

    @Test func `a check prints one report, whatever stdin is`() throws {
        let lab = try ValidateLab()
        let tool = try lab.tool("validate", "--once")
        tool.closeInput()
        let line = try #require(try tool.output.line())
        #expect(try ValidationSummary(decoding: Array(line.utf8)[...]).verdict == .validated)
        #expect(try tool.output.line() == nil && tool.exitCode() == 0)
    }

    @Test func `a check waits for a server as long as it is told to`() throws {
        let lab = try ValidateLab(.lateNoContent)
        for (timeout, isValidated) in [("300s", true), ("1s", false)] {
            let line = try #require(try lab.lines("validate", "--once", "--timeout", timeout).first)
            let verdict = try ValidationSummary(decoding: Array(line.utf8)[...]).verdict
            #expect((verdict == .validated) == isValidated, "\(timeout): \(line)")
        }
    }

    @Test func `reports end when stdin is closed`() throws {
        let lab = try ValidateLab()
        let tool = try lab.tool("validate")
        #expect(try tool.lines { $0.contains(#""verdict":"validated""#) }.count <= 2)
        tool.closeInput()
        #expect(try tool.output.rest() == "" && tool.exitCode() == 0)
    }

    @Test func `reports end when stdout is closed`() throws {
        let lab = try ValidateLab()
        let tool = try lab.tool("validate")
        _ = try tool.lines { $0.contains(#""verdict":"validated""#) }
        tool.output.end()
        #expect(try tool.exitCode() == 0)
    }
}
