import ArgumentParser
import Reachability

/// `netwatch watch`: a line for the current state, then one for each change.
struct WatchCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state, then a line for each change, until interrupted.",
        discussion: "Exits with 0 on SIGINT, on SIGTERM, and when nobody reads its output any more."
    )

    @Flag(help: "Print JSON lines.")
    var json = false

    @Flag(help: "Also print a line when WiFi goes over to another access point without a loss.")
    var roams = false

    @OptionGroup var common: CommonOptions

    /// What the options ask for.
    var watch: StateWatch {
        var configuration = common.configuration
        configuration.reportsRoams = roams
        return .init(format: json ? .json : .text, configuration: configuration)
    }

    func execute() throws(ToolError) -> ExitStatus { try watch.run() }
}
