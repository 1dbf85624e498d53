import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore

/// A subcommand that is a separate executable, so that this one does not link its dependencies.
///
/// `netwatch fetch` executes `netwatch-fetch`, and `netwatch serve` executes `netwatchd`, from the directory of this
/// executable, as git does with its subcommands.
struct ExternalCommand: Equatable {
    /// The name of the subcommand.
    let name: String
    /// Where in the command line its words are, the command's own first; the rest are its arguments.
    private let positions: [Int]
    /// Whether its help was requested by `netwatch help NAME`.
    private let isHelpRequest: Bool

    /// The subcommands that are separate executables.
    static let names: Set<String> = ["fetch", "fleet", "forward", "outbox", "serve", "validate"]

    /// Creates a command of arguments; nil if they name another one.
    ///
    /// - Parameter arguments: The arguments of this program without its name.
    init?(_ arguments: [String]) {
        guard let position = CommandOrder.commandPosition(in: arguments) else { return nil }
        isHelpRequest = arguments[position] == "help"
        name = isHelpRequest ? arguments.dropFirst(position + 1).first ?? "" : arguments[position]
        guard Self.names.contains(name) else { return nil }
        positions = [position] + arguments.indices.filter { $0 != position }
    }

    /// The arguments for the executable, the subcommand's name first.
    func arguments<Word>(of words: [Word], help: [Word]) -> [Word] {
        isHelpRequest ? help : positions.map { words[$0] }
    }

    /// The path of the executable, in the directory of this one.
    var path: String { ExecutableDirectory.path + "/" + file }

    /// The name of its file, and of the Debian package that has it; that of the service is a daemon's, as other systems
    /// have it in their lists of processes.
    private var file: String { name == "serve" ? "netwatchd" : "netwatch-" + name }

    /// Replaces this process by the executable (execv(3)), with the words of this process's command line byte for byte.
    ///
    /// - Returns: Never; the return type is that of other commands.
    /// - Throws: Why it cannot be executed: 127 if it is not installed, otherwise 126.
    func execute() throws(ToolError) -> ExitStatus {
        let words = (1..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0] }
        let arguments = arguments(of: words, help: [strdup(name), strdup("--help")])
        var all = [CommandLine.unsafeArgv[0]] + arguments + [nil]
        for number in SignalActions.ignoredForWrites { signal(number, SIG_DFL) }
        execv(path, &all)
        let error = SystemError.last
        for number in SignalActions.ignoredForWrites { signal(number, SIG_IGN) }
        throw failure(error)
    }

    private func failure(_ error: SystemError) -> ToolError {
        let path = path.escapedForTerminal
        guard error.code == ENOENT else {
            return .init("cannot execute '\(path)': \(error); reinstall \(file)", exit: .notExecutable)
        }
        return .init(
            "'netwatch \(name)' is not installed: there is no '\(path)'; install the package \(file), or "
                + "run './scripts/netwatch \(name)' in a checkout, which builds it",
            exit: .commandNotFound
        )
    }
}

/// Lets the common options stand before the command: `netwatch --netns blue status`.
enum CommandOrder {
    /// The options that take a value as their next argument, and may stand first.
    private static let valued: Set<String> = [
        "--netns", "--settle", "--kind", "--expensive", "--constrained", "--validate", "--validate-cacert",
    ]
    /// Those that take none.
    private static let flags: Set<String> = ["--json", "--validate-metered"]

    /// The arguments with the command first; as they are where no command is named.
    ///
    /// - Parameters:
    ///   - arguments: The user's arguments.
    ///   - commands: The commands' names.
    /// - Returns: The arguments for the argument parser.
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

/// An external command as the help and the completions of `netwatch` list it; ``ExternalCommand`` executes it.
struct ListedCommand<Entry: CommandEntry>: NetwatchCommand {
    static var configuration: CommandConfiguration { .init(commandName: Entry.name, abstract: Entry.summary) }

    @Argument(parsing: .captureForPassthrough)
    var arguments: [String] = []

    func execute() throws(ToolError) -> ExitStatus {
        guard let command = ExternalCommand([Entry.name] + arguments) else { return .usage }
        return try command.execute()
    }
}

/// An entry for an external command in the list of commands.
protocol CommandEntry {
    static var name: String { get }
    static var summary: String { get }
}

enum FetchEntry: CommandEntry {
    static let name = "fetch"
    static let summary = CommandSummary.fetch
}

enum ServeEntry: CommandEntry {
    static let name = "serve"
    static let summary = CommandSummary.serve
}

enum OutboxEntry: CommandEntry {
    static let name = "outbox"
    static let summary = CommandSummary.outbox
}

enum ForwardEntry: CommandEntry {
    static let name = "forward"
    static let summary = CommandSummary.forward
}

enum FleetEntry: CommandEntry {
    static let name = "fleet"
    static let summary = CommandSummary.fleet
}

enum ValidateEntry: CommandEntry {
    static let name = "validate"
    static let summary = CommandSummary.validate
}
