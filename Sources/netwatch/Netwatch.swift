import ArgumentParser

/// The tool's root command.
@main
struct Netwatch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "netwatch",
        abstract: "Tells whether and how this machine reaches the network."
    )
}
