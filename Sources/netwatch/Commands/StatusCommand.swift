import ArgumentParser
import CommandLineSupport

/// `netwatch status`: the current state and path, once.
struct StatusCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the current state and path once.",
        discussion: .guide(
            [
                .init("The state, the path and the reasons", "netwatch status"),
                .init("In a script: only with a way to the internet", "netwatch status >/dev/null && ./synchronize"),
                .init(
                    "The interface that the path goes through",
                    "netwatch status --json | jq -r '.path.interface.name'"
                ),
                .init("Take USB adapters for the modems that they are", "netwatch status --kind 'enx*=cellular'"),
            ],
            "Exits with 0 if the network is reachable, 1 if not, 2 if that is unknown."
        )
    )

    @Flag(help: "Print a JSON object, which also tells how each interface's kind is known.")
    var json = false

    @OptionGroup var form: FormatOptions

    @OptionGroup var common: CommonOptions

    /// What the options ask for.
    var query: StateQuery {
        .init(format: form.format(or: json ? .detailedJSON : .text), configuration: common.configuration)
    }

    func validate() throws { try form.check(besideJSON: json) }

    func execute() throws(ToolError) -> ExitStatus { try query.run() }
}
