import ArgumentParser
import CommandLineLab
import CommandLineSupport
import Testing

@testable import netwatchd

@Suite(.timeLimit(.minutes(5))) struct ServeHelpTests {
    @Test func `examples come first, each with a description, and those of netwatch parse`() throws {
        let examples = try #require(HelpExamples(discussion: ServeCommand.configuration.discussion))
        #expect(examples.faults == [])
        var count = 0
        for (line, calls) in try examples.calls() {
            for arguments in calls {
                #expect(try NetwatchDaemon.parseAsRoot(arguments) is ServeCommand, "\(line)")
                count += 1
            }
        }
        #expect(count == 5)
    }

    @Test func `help names the command as users type it`() {
        let help = NetwatchDaemon.helpMessage(for: ServeCommand.self, columns: 80)
        #expect(help.hasPrefix("OVERVIEW: \(CommandSummary.serve)\n\nEXAMPLES:\n  # "))
        #expect(help.contains("\n\nUSAGE: netwatch serve "))
    }
}
