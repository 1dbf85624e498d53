import ArgumentParser
import CommandLineSupport

/// What is run at each change.
struct HookOptions: ParsableArguments {
    /// How long a hook may take where nothing else is said.
    static let standardLimit = Duration.seconds(30)

    @Option(
        parsing: .unconditional,
        help: .init(
            """
            Run that command by /bin/sh at the first state and at each change, with the notice as a JSON line on stdin and \
            NETWATCH_STATUS, NETWATCH_PREVIOUS and NETWATCH_INTERFACE in its environment; never two at once, and the \
            newest state is never left out.
            """,
            valueName: "command"
        )
    )
    var exec: String?

    @Option(
        name: .customLong("exec-timeout"),
        parsing: .unconditional,
        help: .init(
            "End the command, and all that it has started, if it takes longer; 30s where nothing is said.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var limit: Duration?

    func validate() throws {
        if let exec, exec.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }) {
            throw ValidationError(
                "The command of --exec is empty; write one, as in --exec 'logger \"$NETWATCH_STATUS\"'"
            )
        }
        guard let limit else { return }
        guard exec != nil else { throw ValidationError("--exec-timeout needs --exec; give both or neither") }
        guard limit > .zero else { throw ValidationError("--exec-timeout must be longer than 0; write such as 30s") }
    }

    /// The hook, if there is one.
    var hook: Hook? {
        exec.map { command in
            let bytes = RawArguments.own.value(of: "--exec", reading: command) ?? Array(command.utf8)
            return .init(command: command, bytes: bytes, limit: limit ?? Self.standardLimit)
        }
    }
}
