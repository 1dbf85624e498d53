import ArgumentParser
import ReachabilityCore

/// What `--for` waits for.
enum WaitCondition: String, CaseIterable, ExpressibleByArgument {
    /// Any usable path.
    case reachable
    /// WiFi, or another path that is not cellular.
    case wifi
    /// A cellular path.
    case cellular
    /// No usable path.
    case notReachable

    /// Whether a state is what is waited for; `unknown` never is.
    func holds(for status: ReachabilityStatus) -> Bool {
        switch self {
        case .reachable: status.isReachable
        case .wifi: status == .wifi
        case .cellular: status == .cellular
        case .notReachable: status == .notReachable
        }
    }
}

/// What the commands that wait take.
struct WaitOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: .init("Wait for that state.", valueName: "state")
    )
    var condition: WaitCondition = .reachable

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
    /// What is told when the time is up.
    var timeUp: ToolError {
        .init("the time is up, and the state is not \(condition.rawValue); give a longer --timeout", exit: .timedOut)
    }
}
