import CommandLineSupport
import Testing

@testable import netwatch

@Suite struct CommandOrderTests {
    private let commands = ["watch", "status", "run"]

    @Test(arguments: [
        ([], []), (["status", "--json"], ["status", "--json"]), (["--json"], ["--json"]),
        (["--netns", "blue", "status"], ["status", "--netns", "blue"]),
        (["--netns", "status", "status"], ["status", "--netns", "status"]),
        (
            ["--netns=blue", "--kind", "a=wifi", "--json", "status", "--settle", "1s"],
            ["status", "--netns=blue", "--kind", "a=wifi", "--json", "--settle", "1s"]
        ),
        (
            ["--expensive", "enx*", "--constrained", "wwan*", "status"],
            ["status", "--expensive", "enx*", "--constrained", "wwan*"]
        ),
        (["--netns"], ["--netns"]), (["--bogus", "status"], ["--bogus", "status"]),
        (["help", "run"], ["help", "run"]),
        (["--kind", "a=wifi", "run", "--", "status"], ["run", "--kind", "a=wifi", "--", "status"]),
        (["--", "status"], ["--", "status"]), (["--netns", "run"], ["--netns", "run"]),
    ])
    func `the command comes first`(written: [String], expected: [String]) throws {
        #expect(try CommandOrder.commandFirst(written, commands: commands) == expected)
    }

    @Test(arguments: [["stauts"], ["--json", "stauts"], ["--netns", "blue", "stauts"]])
    func `an unknown command is refused`(written: [String]) throws {
        let error = try #require(throws: ToolError.self) {
            try CommandOrder.commandFirst(written, commands: commands)
        }
        let expected = "there is no command 'stauts'; the commands are watch, status, run"
        #expect(error == ToolError(expected, exit: .usage))
    }
}
