import ArgumentParser

/// `netwatch status`: the current state and path, once.
struct StatusCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the current state and path once.",
        discussion: "Exits with 0 if the network is reachable, 1 if not, 2 if that is unknown."
    )

    @Flag(help: "Print a JSON object, which also tells how each interface's kind is known.")
    var json = false

    @OptionGroup var common: CommonOptions

    /// What the options ask for.
    var query: StateQuery { .init(format: json ? .detailedJSON : .text, configuration: common.configuration) }

    func execute() throws(ToolError) -> ExitStatus { try query.run() }
}
