import ArgumentParser
import CommandLineLab
import CommandLineSupport
import Testing

@testable import netwatch_fetch

@Suite(.timeLimit(.minutes(5))) struct FetchHelpTests {
    @Test func `examples come first, each with a description`() throws {
        let examples = try #require(HelpExamples(discussion: FetchCommand.configuration.discussion))
        #expect(examples.faults == [])
        #expect(examples.lines.contains { $0.contains("netwatch fetch") })
    }

    @Test func `every example parses`() throws {
        let examples = try #require(HelpExamples(discussion: FetchCommand.configuration.discussion))
        for (line, calls) in try examples.calls() {
            #expect(calls.isEmpty == false, "\(line)")
            for arguments in calls { #expect(try NetwatchFetch.parseAsRoot(arguments) is FetchCommand, "\(line)") }
        }
    }

    @Test func `help names the command as users type it`() {
        let help = NetwatchFetch.helpMessage(for: FetchCommand.self, columns: 80)
        #expect(help.hasPrefix("OVERVIEW: \(CommandSummary.fetch)\n\nEXAMPLES:\n  # "))
        #expect(help.contains("\n\nUSAGE: netwatch fetch "))
    }
}
