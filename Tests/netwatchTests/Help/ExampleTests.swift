import ArgumentParser
import NetworkLab
import Testing

@testable import netwatch

/// Holds the examples with which each command's help begins.
@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
    /// The tool's commands, the tool itself among them.
    private static let commands = [Netwatch.self] + Netwatch.configuration.subcommands

    /// The examples' lines of a command's help; nil if it does not begin with examples.
    static func lines(of command: any ParsableCommand.Type) -> [String]? {
        let lines = command.configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first == "EXAMPLES:", let end = lines.firstIndex(of: "") else { return nil }
        return lines[1..<end].map(String.init)
    }

    @Test(arguments: commands.map { $0._commandName })
    func `examples come first, each with what it does`(name: String) throws {
        let command = try #require(Self.commands.first { $0._commandName == name })
        let lines = try #require(Self.lines(of: command))
        #expect(lines.count >= 4 && lines.count % 2 == 0)
        #expect(lines.contains { $0.contains(name == "netwatch" ? "netwatch" : "netwatch \(name)") })
        for (number, line) in lines.enumerated() {
            // As they are, they fit a terminal and a page.
            #expect(line.count < 80 && line.allSatisfy(\.isASCII), "\(line)")
            let isPurpose = number % 2 == 0
            #expect(line.hasPrefix(isPurpose ? "  # " : "  ") && line.hasPrefix("  #") == isPurpose, "\(line)")
            #expect(isPurpose || line.contains("netwatch"), "\(line)")
            #expect(!isPurpose || (line.dropFirst(4).first?.isUppercase == true && line.last != "."), "\(line)")
        }
    }

    @Test(arguments: commands.map { $0._commandName })
    func `every example parses`(name: String) throws {
        let command = try #require(Self.commands.first { $0._commandName == name })
        for line in try #require(Self.lines(of: command)) where !line.hasPrefix("  #") {
            let calls = try Self.calls(in: line)
            #expect(calls.isEmpty == false, "\(line)")
            for arguments in calls {
                let names = Netwatch.configuration.subcommands.map { $0._commandName }
                let ordered = try CommandOrder.commandFirst(arguments, commands: names)
                let parsed = try Netwatch.parseAsRoot(ordered)
                #expect(parsed is any NetwatchCommand, "\(line)")
            }
        }
    }

    @Test func `the help of a command begins with what it is for and its examples`() {
        let help = Netwatch.helpMessage(for: WaitCommand.self, columns: 80)
        #expect(help.hasPrefix("OVERVIEW: \(WaitCommand.configuration.abstract)\n\nEXAMPLES:\n  # "))
        for line in Self.lines(of: WaitCommand.self) ?? [] { #expect(help.contains("\n\(line)\n"), "\(line)") }
        #expect(help.contains("\n\nUSAGE: netwatch wait "))
    }

    /// The arguments of each call of the tool in a line of shell, as a shell reads them.
    ///
    /// Functions stand for the tool and for what may stand before it; nothing else is found, so nothing else happens.
    private static func calls(in line: String) throws -> [[String]] {
        let file = try TemporaryFile()
        let script = """
            netwatch() { { printf '%s\\n' call; for word; do printf '%s\\n' "-$word"; done; } >>"$calls"; }
            sudo() { "$@"; }
            timeout() { shift; "$@"; }
            cd / && PATH= && set -f
            \(line.replacing(#/>[a-z.\/]+/#, with: ""))
            :
            """
        let outcome = try LabProcess.run("/bin/sh", ["-c", script], environment: ["calls": file.path])
        #expect(outcome.code == 0 && !outcome.errors.contains("yntax"), "\(line): \(outcome)")
        let words = String(decoding: try Repository.bytes(of: file.path), as: UTF8.self).split(separator: "\n")
        return words.split(separator: "call", omittingEmptySubsequences: false).dropFirst().map { words in
            words.map { String($0.dropFirst()) }
        }
    }
}
