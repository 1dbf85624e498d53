import CommandLineSupport
import NetwatchCore

/// Lets the common options stand before the command: `netwatch --netns blue status`.
enum CommandOrder {
    /// The options that take a value as their next argument, and may stand first.
    private static let valued: Set<String> = ["--netns", "--settle", "--kind", "--expensive", "--constrained"]
    /// Those that take none.
    private static let flags: Set<String> = ["--json"]

    /// The arguments with the command first; as they are where no command is named.
    ///
    /// - Parameters:
    ///   - arguments: What the user wrote.
    ///   - commands: The commands' names.
    /// - Returns: What the argument parser understands.
    /// - Throws: An error if the first word is no command.
    static func commandFirst(_ arguments: [String], commands: [String]) throws(ToolError) -> [String] {
        guard let position = commandPosition(in: arguments) else { return arguments }
        let command = arguments[position]
        guard commands.contains(command) || command == "help" else {
            let names = commands.joined(separator: ", ")
            throw .init(
                "there is no command '\(command.escapedForTerminal)'; the commands are \(names)",
                exit: .usage
            )
        }
        return [command] + arguments[..<position] + arguments[(position + 1)...]
    }

    /// Where the command's name is: the first word that is neither a common option nor the value of one.
    ///
    /// - Returns: Its index; nil if another option comes before, or nothing.
    static func commandPosition(in arguments: [String]) -> Int? {
        var rest = arguments[...]
        while let option = rest.first, flags.contains(option) || valued.contains(option) || isValued(option) {
            rest = rest.dropFirst(valued.contains(option) ? 2 : 1)
        }
        guard let command = rest.first, !command.hasPrefix("-") else { return nil }
        return rest.startIndex
    }

    /// `--netns=blue`.
    private static func isValued(_ option: String) -> Bool {
        option.contains("=") && valued.contains(String(option.prefix { $0 != "=" }))
    }
}
