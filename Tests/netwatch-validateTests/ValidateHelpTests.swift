import ArgumentParser
import CommandLineLab
import CommandLineSupport
import Testing
import ValidationCore

@testable import netwatch_validate

@Suite struct ValidateHelpTests {
    @Test func `examples come first, each with a description, and parse`() throws {
        let examples = try #require(HelpExamples(discussion: ValidateCommand.configuration.discussion))
        #expect(examples.faults == [])
        for (line, calls) in try examples.calls() {
            #expect(calls.isEmpty == false, "\(line)")
            for arguments in calls {
                #expect(try NetwatchValidate.parseAsRoot(arguments) is ValidateCommand, "\(line)")
            }
        }
    }

    @Test func `the timeout is that of the library, unless another is given`() throws {
        let servers = ["--validate", "dns:a"]
        let configuration = ValidationConfiguration(endpoints: [])
        #expect(try ValidateCommand.parse(servers).timeout == configuration.timeout)
        #expect(try ValidateCommand.parse(servers + ["--timeout", "1.5s"]).timeout == .milliseconds(1500))
    }

    @Test func `help names the command as users type it`() {
        let help = NetwatchValidate.helpMessage(for: ValidateCommand.self, columns: 80)
        #expect(help.hasPrefix("OVERVIEW: \(CommandSummary.validate)\n\nEXAMPLES:\n  # "))
        #expect(help.contains("\n\nUSAGE: netwatch validate "))
    }
}
