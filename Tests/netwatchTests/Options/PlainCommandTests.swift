import ArgumentParser
import CommandLineSupport
import Reachability
import Testing

@testable import netwatch

@Suite struct PlainCommandTests {
    /// The fast path must have the same result as the parser.
    @Test(
        arguments: [[], ["watch"], ["--json"], ["watch", "--json"], ["status"], ["status", "--json"]] as [[String]]
    )
    func `the fast path has the parser's result`(arguments: [String]) throws {
        let plain = try #require(PlainCommand(arguments))
        let parsed = try Netwatch.parseAsRoot(arguments)
        let (format, configuration): (ChangeFormat, MonitorConfiguration)
        switch (plain, parsed) {
        case (.watch(let json), let command as WatchCommand):
            #expect(json == command.json)
            (format, configuration) = (command.watch.format, command.watch.configuration)
            #expect(format == (json ? .json : .text))
        case (.status(let json), let command as StatusCommand):
            #expect(json == command.json)
            (format, configuration) = (command.query.format, command.query.configuration)
            #expect(format == (json ? .detailedJSON : .text))
        default:
            Issue.record("\(plain) and \(parsed)")
            return
        }
        // The options' defaults are the monitor's.
        let defaults = MonitorConfiguration()
        #expect(configuration.namespace == defaults.namespace)
        #expect(configuration.kindRules == defaults.kindRules)
        #expect(configuration.expensiveInterfaces == defaults.expensiveInterfaces)
        #expect(configuration.constrainedInterfaces == defaults.constrainedInterfaces)
        #expect(configuration.settle == defaults.settle)
    }

    @Test(arguments: [
        ["--version"], ["--help"], ["run"], ["watch", "x"], ["--json", "--json"], ["--json", "status"],
    ])
    func `other arguments are left to the parser`(arguments: [String]) {
        #expect(PlainCommand(arguments) == nil)
    }
}
