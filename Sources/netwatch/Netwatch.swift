import ArgumentParser
import CommandLineSupport
import Glibc
import Reachability

/// The tool's root command.
@main
struct Netwatch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "netwatch",
        abstract: "Monitor whether and how this machine can reach the network.",
        discussion: .guide(
            [
                .init("Find out why the network is unreachable", "netwatch explain"),
                .init("Run a command once the network is reachable", "netwatch run --timeout 5m -- ./sync"),
            ],
            "Exit status: 64 usage, 71 kernel refusal, 74 write error, 77 permission."
        ),
        version: "netwatch \(CommandLineProgram.version)",
        subcommands: [
            WatchCommand.self, StatusCommand.self, ExplainCommand.self, TraceCommand.self, WaitCommand.self,
            RunCommand.self, ListedCommand<ValidateEntry>.self, ListedCommand<ServeEntry>.self,
            ListedCommand<ForwardEntry>.self, ListedCommand<FleetEntry>.self, ListedCommand<FetchEntry>.self,
            ListedCommand<OutboxEntry>.self, HistoryCommand.self, RecordCommand.self, ReplayCommand.self,
        ],
        defaultSubcommand: WatchCommand.self
    )

    /// Parses the arguments, runs the command and exits.
    static func main() {
        StandardDescriptors.fillGaps()
        _ = SignalActions.ignoredForWrites
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
        case .status(let json): try StateQuery(format: json ? .detailedJSON : .text, configuration: .init()).run()
        }
    }
}
