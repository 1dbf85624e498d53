import ArgumentParser
import CommandLineSupport
import Glibc

/// The executable behind `netwatch serve`; its arguments are those of `netwatch`, or those of `serve` alone.
///
/// Help, errors and completions name the command as users type it, `netwatch serve`.
@main
struct NetwatchDaemon: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "netwatch",
        version: "netwatch \(CommandLineProgram.version)",
        subcommands: [ServeCommand.self]
    )

    /// Parses the arguments, runs the command and exits.
    static func main() {
        StandardDescriptors.fillGaps()
        _ = SignalActions.brokenPipeWasIgnored
        Glibc.exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    /// Runs the command with arguments, with or without the command's name before them.
    static func run(_ arguments: [String]) -> ExitStatus {
        let name = ServeCommand._commandName
        do throws(ToolError) {
            return try CommandLineProgram.execute(
                arguments.first == name ? arguments : [name] + arguments,
                as: Self.self
            )
        } catch {
            return CommandLineProgram.report(error)
        }
    }
}
