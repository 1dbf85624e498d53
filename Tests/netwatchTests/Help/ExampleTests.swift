import ArgumentParser
import CommandLineLab
import CommandLineSupport
import Testing

@testable import netwatch

/// The examples with which each command's help begins.
@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
    /// The tool's commands, including the tool itself; commands that are separate executables have separate tests.
    private static let commands =
        [Netwatch.self] + Netwatch.configuration.subcommands.filter { !ExternalCommand.names.contains($0._commandName) }

    private func examples(of name: String) throws -> HelpExamples {
        let command = try #require(Self.commands.first { $0._commandName == name })
        return try #require(HelpExamples(discussion: command.configuration.discussion))
    }

    @Test(arguments: commands.map { $0._commandName })
    func `help begins with examples, each with its purpose`(name: String) throws {
        let examples = try examples(of: name)
        #expect(examples.faults == [])
        #expect(examples.lines.contains { $0.contains(name == "netwatch" ? "netwatch" : "netwatch \(name)") })
    }

    @Test(arguments: commands.map { $0._commandName })
    func `every example parses`(name: String) throws {
        for (line, calls) in try examples(of: name).calls() {
            #expect(calls.isEmpty == false, "\(line)")
            for arguments in calls {
                let names = Netwatch.configuration.subcommands.map { $0._commandName }
                let ordered = try CommandOrder.commandFirst(arguments, commands: names)
                let parsed = try Netwatch.parseAsRoot(ordered)
                #expect(parsed is any NetwatchCommand, "\(line)")
            }
        }
    }

    @Test func `a command's help begins with its purpose and its examples`() throws {
        let help = Netwatch.helpMessage(for: WaitCommand.self, columns: 80)
        #expect(help.hasPrefix("OVERVIEW: \(WaitCommand.configuration.abstract)\n\nEXAMPLES:\n  # "))
        for line in try examples(of: "wait").lines { #expect(help.contains("\n\(line)\n"), "\(line)") }
        #expect(help.contains("\n\nUSAGE: netwatch wait "))
    }
}
