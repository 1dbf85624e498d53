import CommandLineLab
import Glibc
import NetworkLab
import Testing

/// Lines are printed where there is no live view.
@Suite(.timeLimit(.minutes(5))) struct LinesInsteadTests {
    private let lab: LabNamespace

    init() throws { lab = try LabNamespace() }

    @Test func `a dumb terminal gets lines without a message`() throws {
        let view = try ViewOnTerminal(in: lab, environment: ["TERM": "dumb"])
        try expectLines(view, errors: "")
    }

    @Test func `an option selects lines`() throws {
        try expectLines(try ViewOnTerminal(["--plain"], in: lab), errors: "")
        try expectLines(try ViewOnTerminal(["watch", "--json"], in: lab), errors: "")
    }

    @Test(arguments: [("", "TERM is not set"), ("no-such-terminal", "the terminal type 'no-such-terminal' is unknown")])
    func `an unsuitable terminal gets a message with the reason`(type: String, why: String) throws {
        let view = try ViewOnTerminal(in: lab, environment: ["TERM": type])
        _ = try view.terminal.read(until: "monitor.initial")
        view.tool.send(SIGINT)
        #expect(try view.tool.exitCode() == 0)
        let errors = try view.tool.errors.rest()
        #expect(errors.hasPrefix("netwatch: no live view: \(why)"))
        #expect(errors.hasSuffix("printing lines\n") && errors.filter(\.isNewline) == "\n")
        #expect(view.terminal.settings == view.before)
    }

    @Test func `hosts require the live view`() throws {
        for arguments in [["--to", "192.0.2.1"], ["--to", "192.0.2.1", "--json"], ["--plain", "--to", "a.example"]] {
            let tool = try ToolProcess(arguments, in: lab)
            #expect(try tool.exitCode() == 64)
            let errors = try tool.errors.rest()
            #expect(errors.contains("--to") && errors.contains("live view") && errors.filter(\.isNewline) == "\n")
            #expect(try tool.output.rest() == "")
        }
        let view = try ViewOnTerminal(["--to", "192.0.2.1"], in: lab, environment: ["TERM": "dumb"])
        #expect(try view.tool.exitCode() == 64)
    }

    @Test(arguments: [
        (["--color", "never"], "", false), (["--color", "always"], "1", true), ([], "1", false), ([], "", true),
    ])
    func `options and environment decide about colours`(arguments: [String], noColor: String, isColored: Bool) throws {
        let view = try ViewOnTerminal(arguments, in: lab, environment: ["NO_COLOR": noColor])
        let drawn = try view.terminal.read(until: "not reachable")
        // Red.
        #expect(drawn.contains("\u{1B}[31m") == isColored)
        view.terminal.type("q")
        #expect(try view.end().code == 0)
    }

    @Test func `without a Unicode locale only ASCII is drawn`() throws {
        let view = try ViewOnTerminal(in: lab, environment: ["LANG": "C", "LC_ALL": "C"])
        let drawn = try view.terminal.read(until: "not reachable")
        #expect(drawn.utf8.allSatisfy { $0 < 0x80 })
        view.terminal.type("q")
        #expect(try view.end().code == 0)
    }

    private func expectLines(_ view: ViewOnTerminal, errors: String) throws {
        let seen = try view.terminal.read(until: "monitor.initial")
        #expect(!seen.contains("\u{1B}"))
        view.tool.send(SIGINT)
        #expect(try view.tool.exitCode() == 0)
        #expect(try view.tool.errors.rest() == errors)
        #expect(view.terminal.settings == view.before)
    }
}
