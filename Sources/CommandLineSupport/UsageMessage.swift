package import ArgumentParser
import NetwatchCore

/// Brings what the argument parser says of a usage error to one line.
package enum UsageMessage {
    /// What was wrong, and where to read how to write it.
    package static func line(for error: any Error, of command: any ParsableCommand.Type) -> String {
        let message = oneLine(command.message(for: error))
        let what = message.isEmpty ? "these arguments can't be taken" : message
        return what + "; " + hint(command.fullMessage(for: error))
    }

    /// The parser's lines, put behind each other; it lists the values that an option takes with a dash before each.
    package static func oneLine(_ text: String) -> String {
        var line = ""
        for part in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) where !part.isEmpty {
            let item = part.hasPrefix("- ") ? part.dropFirst(2) : part
            line += (line.isEmpty ? "" : line.hasSuffix(":") || part == item ? " " : ", ") + item
        }
        return (line.hasSuffix(".") ? String(line.dropLast()) : line).escapedForTerminal
    }

    /// The end of the parser's full message names the command whose help to read: `See 'netwatch wait --help' for …`.
    private static func hint(_ fullMessage: String) -> String {
        let quoted = fullMessage.split(separator: "\n").last?.split(separator: "'")
        guard let quoted, quoted.count == 3 else { return "see 'netwatch --help'" }
        return "see '\(quoted[1])'"
    }
}
