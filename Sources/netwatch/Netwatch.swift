import ArgumentParser
import CommandLineSupport
import Glibc
import Reachability

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
        version: "netwatch \(CommandLineProgram.version)",
        subcommands: [
            WatchCommand.self, StatusCommand.self, WaitCommand.self, RunCommand.self, ExplainCommand.self,
            RecordCommand.self, ReplayCommand.self, HistoryCommand.self, FetchCommand.self,
        ],
        defaultSubcommand: WatchCommand.self
    )

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
            if let external = ExternalCommand(arguments) { return try external.execute() }
            if let completions = CompletionScript(arguments) {
                return try StandardOutput.write(completions.text + "\n")
            }
            let names = configuration.subcommands.map { $0._commandName }
            return try CommandLineProgram.execute(
                CommandOrder.commandFirst(arguments, commands: names),
                as: Self.self
            )
        } catch {
            return CommandLineProgram.report(error)
        }
    }
}

/// The command lines that scripts and people start most, recognised without the argument parser.
///
/// The parser finds its options by reflection, which takes longer than the first reading of the kernel's tables. All
/// else, mistakes too, is its business.
enum PlainCommand: Hashable {
    /// `netwatch`, `netwatch watch`, with or without `--json`.
    case watch(json: Bool)
    /// `netwatch status`, with or without `--json`.
    case status(json: Bool)

    /// The command that arguments stand for, or nil if the parser must tell.
    init?(_ arguments: [String]) {
        switch arguments {
        case [], ["watch"]: self = .watch(json: false)
        case ["--json"], ["watch", "--json"]: self = .watch(json: true)
        case ["status"]: self = .status(json: false)
        case ["status", "--json"]: self = .status(json: true)
        default: return nil
        }
    }

    /// Does what the command is for, with every option as it is by default.
    func execute() throws(ToolError) -> ExitStatus {
        switch self {
        case .watch(let json):
            try StateView(
                lines: .init(format: json ? .json : .text, configuration: .init()),
                live: .init(),
                prefersLines: json
            ).run()
        case .status(let json):
            try StateQuery(format: json ? .detailedJSON : .text, configuration: .init()).run()
        }
    }
}
