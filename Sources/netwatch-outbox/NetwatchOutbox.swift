import ArgumentParser
import CommandLineSupport

/// The executable behind `netwatch outbox`.
@main
struct NetwatchOutbox: CommandExecutable { typealias Command = OutboxCommand }

/// `netwatch outbox`: requests that are kept on disk until they are delivered.
struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: CommandSummary.outbox,
        discussion: .guide(
            [
                .init(
                    "Add a request, which is on disk when the command ends",
                    "netwatch outbox add --data @reading.json https://api.example.com/v1/readings"
                ),
                .init("Send what is there, and end when it is delivered", "netwatch outbox run --once"),
                .init("List what waits", "netwatch outbox list"),
                .init("Wait until an item is delivered", "netwatch outbox wait 7 --timeout 60s"),
            ],
            """
            Any number of processes may add items; one of them sends. The folder is $XDG_STATE_HOME/netwatch/outbox, or \
            ~/.local/state/netwatch/outbox, unless --box names another one.

            Exit status: 0 done, 1 'wait': the item ended otherwise than delivered, 2 the lane has another request with this \
            key, 64 usage, 65 damaged, 66 no such item, lane or outbox, 73 a file can't be created, 74 reading \
            or writing failed, 75 full, being sent, or the time is up, 77 not permitted.
            """
        ),
        subcommands: [
            ListCommand.self, ShowCommand.self, AddCommand.self, RunCommand.self, WaitCommand.self,
            OutcomesCommand.self,
            RetryCommand.self, DropCommand.self, HoldCommand.self, ReleaseCommand.self, PauseCommand.self,
            ResumeCommand.self, ExportCommand.self, ImportCommand.self, CheckCommand.self,
        ]
    )
}
