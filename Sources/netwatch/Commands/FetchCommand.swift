import ArgumentParser
import CommandLineSupport

/// `netwatch fetch` as the help and the completions of `netwatch` list it; ``ExternalCommand`` executes it.
struct FetchCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: CommandSummary.fetch
    )

    @Argument(parsing: .captureForPassthrough)
    var arguments: [String] = []

    func execute() throws(ToolError) -> ExitStatus {
        guard let command = ExternalCommand(["fetch"] + arguments) else { return .usage }
        return try command.execute()
    }
}
