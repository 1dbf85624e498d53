package import ArgumentParser
import Glibc
import NetwatchCore

/// The common part of the executables: the version, running a command, and reporting errors.
package enum CommandLineProgram {
    /// The version of all executables.
    package static let version = "0.1.0"

    /// Parses arguments and executes the command that they name.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the program's name.
    ///   - root: The command that the arguments are parsed as.
    /// - Returns: The status to exit with.
    /// - Throws: What the command throws, or a usage error.
    package static func execute(
        _ arguments: [String],
        as root: any ParsableCommand.Type
    ) throws(ToolError) -> ExitStatus {
        let parsed = Result { try root.parseAsRoot(arguments) }
        switch parsed {
        case .success(let command as any NetwatchCommand): return try command.execute()
        case .success(var command): return try respond(to: Result { try command.run() }, root)
        case .failure(let error): return try respond(to: .failure(error), root)
        }
    }

    /// Prints what `--help` and the like request, or throws what is wrong with the arguments.
    private static func respond(
        to result: Result<Void, any Error>,
        _ root: any ParsableCommand.Type
    ) throws(ToolError) -> ExitStatus {
        guard case .failure(let error) = result else { return .success }
        guard root.exitCode(for: error) == .success else {
            throw .init(UsageMessage.line(for: error, of: root), exit: .usage)
        }
        let text = root.fullMessage(for: error)
        return try StandardOutput.write(text.hasSuffix("\n") ? text : text + "\n")
    }

    /// Writes an error as one line to stderr.
    ///
    /// - Returns: The status to exit with, which reports the failure even where stderr cannot be written.
    package static func report(_ error: ToolError) -> ExitStatus {
        try? LineOutput.standardError.write("netwatch: \(error.message)\n")
        return error.status
    }
}

/// An executable that is one command of `netwatch`, and that `netwatch` starts.
///
/// Its arguments are those of `netwatch`, or those of the command alone. Help, errors and completions name the command as
/// users type it, for example `netwatch fetch`.
package protocol CommandExecutable: ParsableCommand {
    /// The command.
    associatedtype Command: ParsableCommand
}

extension CommandExecutable {
    package static var configuration: CommandConfiguration {
        .init(
            commandName: "netwatch",
            version: "netwatch \(CommandLineProgram.version)",
            subcommands: [Command.self]
        )
    }

    /// Parses the arguments, runs the command and exits.
    package static func main() {
        StandardDescriptors.fillGaps()
        _ = SignalActions.ignoredForWrites
        Glibc.exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs the command with arguments, with or without the command's name before them.
    private static func run(_ arguments: [String]) -> ExitStatus {
        let name = Command._commandName
        do throws(ToolError) {
            let own = Array(arguments.first == name ? arguments.dropFirst() : arguments[...])
            try checkSubcommand(own.first)
            return try CommandLineProgram.execute([name] + own, as: Self.self)
        } catch {
            return CommandLineProgram.report(error)
        }
    }

    /// Throws if the first word is none of the commands that the command has; the parser would complain about what follows it.
    private static func checkSubcommand(_ word: String?) throws(ToolError) {
        let names = Command.configuration.subcommands.map { $0._commandName }
        guard !names.isEmpty, let word, !word.hasPrefix("-"), !names.contains(word) else { return }
        let command = "\(Command._commandName) \(word.escapedForTerminal)"
        throw .init("there is no command '\(command)'; the commands are \(names.joined(separator: ", "))", exit: .usage)
    }
}

/// Brings what the argument parser says of a usage error to one line.
package enum UsageMessage {
    /// Returns the error, with the help to read.
    package static func line(for error: any Error, of command: any ParsableCommand.Type) -> String {
        let message = oneLine(command.message(for: error))
        let what = message.isEmpty ? "these arguments are invalid" : message
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
