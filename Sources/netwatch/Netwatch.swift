import ArgumentParser
import Glibc

/// The tool's root command.
@main
struct Netwatch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "netwatch",
        abstract: "Tells, live, whether and how this machine reaches the network.",
        discussion: .guide(
            [
                .init("Watch: live on a terminal, else a line for each change", "netwatch"),
                .init("Is there a way to the internet, and which", "netwatch status"),
                .init("Why is there none", "netwatch explain"),
                .init(
                    "Start something once there is one",
                    "netwatch run --timeout 5m -- rsync -a reports/ server.example:reports/"
                ),
            ],
            """
            Without a command it watches. Nothing but what was asked for is printed on stdout. It exits with 64 if the \
            arguments can't be taken, 71 if the kernel refuses what it needs, 74 if an output can't be written, 77 if \
            the user may not enter the namespace.
            """
        ),
        version: "netwatch \(version)",
        subcommands: [
            WatchCommand.self, StatusCommand.self, WaitCommand.self, RunCommand.self, ExplainCommand.self,
            RecordCommand.self, ReplayCommand.self, HistoryCommand.self, FetchCommand.self,
        ],
        defaultSubcommand: WatchCommand.self
    )

    /// The tool's own version.
    static let version = "0.1.0"

    /// Parses the arguments, runs the command and exits.
    static func main() {
        StandardDescriptors.fillGaps()
        _ = SignalActions.brokenPipeWasIgnored
        Glibc.exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Parses arguments and runs the command that they name.
    static func run(_ arguments: [String]) -> ExitStatus {
        do throws(ToolError) {
            if let plain = PlainCommand(arguments) { return try plain.execute() }
            let names = configuration.subcommands.map { $0._commandName }
            return try perform(CommandOrder.commandFirst(arguments, commands: names))
        } catch {
            return report(error)
        }
    }

    private static func perform(_ arguments: [String]) throws(ToolError) -> ExitStatus {
        let parsed = Result { try parseAsRoot(arguments) }
        switch parsed {
        case .success(let command as any NetwatchCommand): return try command.execute()
        case .success(var command): return try answer(Result { try command.run() })
        case .failure(let error): return try answer(.failure(error))
        }
    }

    /// Prints what was asked for by `--help` and the like, or says what was wrong with the arguments.
    private static func answer(_ result: Result<Void, any Error>) throws(ToolError) -> ExitStatus {
        guard case .failure(let error) = result else { return .success }
        guard exitCode(for: error) == .success else {
            throw .init(UsageMessage.line(for: error, of: self), exit: .usage)
        }
        let text = fullMessage(for: error)
        return try StandardOutput.write(text.hasSuffix("\n") ? text : text + "\n")
    }

    /// Says what went wrong in one line on stderr.
    private static func report(_ error: ToolError) -> ExitStatus {
        // Where stderr can't be written either there is nobody left to tell; the code still says it.
        try? LineOutput.standardError.write("netwatch: \(error.message)\n")
        return error.status
    }
}
