import ArgumentParser
import CommandLineSupport
import Testing

@testable import netwatch

@Suite struct UsageMessageTests {
    @Test(arguments: [
        ("Unknown option '--x'", "Unknown option '--x'"),
        ("Provide one of the following:\n  - a\n  - b", "Provide one of the following: a, b"),
        ("One.\nTwo.", "One. Two"), ("", ""), ("\n\n", ""), ("Bad '\u{1B}[2J'", "Bad '\\u{1b}[2J'"),
    ])
    func `a usage message is one line`(text: String, line: String) {
        #expect(UsageMessage.oneLine(text) == line)
    }

    @Test(arguments: [
        (["--no-such"], "Unknown option '--no-such'; see 'netwatch watch --help'"),
        (["wait", "--for"], "Missing value for '--for <status>'; see 'netwatch wait --help'"),
        (["status", "extra"], "Unexpected argument 'extra'; see 'netwatch status --help'"),
        (["--generate-completion-script", "cmd"], "'cmd'. Please use"),
    ])
    func `the parser's errors are rephrased`(arguments: [String], words: String) throws {
        let error = try #require(throws: (any Error).self) { try Netwatch.parseAsRoot(arguments) }
        let line = UsageMessage.line(for: error, of: Netwatch.self)
        #expect(line.contains(words))
        #expect(!line.contains("\n"))
    }
}
