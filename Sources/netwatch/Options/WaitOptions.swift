import ArgumentParser
import CommandLineSupport

/// What the commands that wait take.
struct WaitOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: .init("Wait for that state.", valueName: "state")
    )
    var condition: StateArgument = .reachable

    @Option(
        parsing: .unconditional,
        help: .init(
            "Give up waiting after that long, and exit with 75; without it, wait for ever.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var timeout: Duration?
}

extension WaitOptions {
    /// What is told when the time is up, with words for what is still missing.
    func timeUp(_ words: String, waitedFor awaited: String? = nil) -> ToolError {
        let awaited = awaited ?? condition.rawValue
        return .init("the time is up: \(words) (waited for \(awaited)); give a longer --timeout", exit: .timedOut)
    }
}
