import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import Reachability
import ReachabilityCore

/// `netwatch wait`: sleeps until the state is what is asked for.
struct WaitCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until the network is reachable, or in another state.",
        discussion: .guide(
            [
                .init("Until there is any path, but a minute at most", "netwatch wait --timeout 60s"),
                .init("Until there is one that is not cellular", "netwatch wait --for wifi"),
                .init(
                    "Until there is a way to one host, such as through a VPN",
                    "netwatch wait --to 10.8.0.1 --timeout 2m"
                ),
                .init("Until it is gone", "netwatch wait --for notReachable"),
            ],
            """
            Exits with 0 once the state is as asked for, and with 75 if the time is up before. With --to, it waits for \
            the kernel's own way to that host instead: for notReachable, to all its addresses, otherwise to any of them.
            """
        )
    )

    @OptionGroup var waiting: WaitOptions

    @Option(
        parsing: .unconditional,
        help: .init("Wait for the way to a host: an address, or a name that is resolved.", valueName: "host"),
        transform: HostArgument.parse
    )
    var to: Host?

    @OptionGroup var common: CommonOptions

    func execute() throws(ToolError) -> ExitStatus {
        let deadline = waiting.timeout.map(SystemClock.now.advanced)
        if let to {
            return try HostWait(host: to, waiting: waiting, deadline: deadline).run(common.configuration)
        }
        let condition = waiting.condition
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(common.configuration, wakeup: wakeup) { change in
            if condition.holds(for: change.status) { wakeup.signal() }
        }
        // Nothing else wakes it: what held for a moment has been waited for too.
        guard try session.next(until: deadline) != .wakeup else { return .success }
        throw waiting.timeUp(session.monitor.stateWords(common.kinds.context(user: geteuid())))
    }
}

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

/// What `--for` waits for.
enum StateArgument: String, CaseIterable, ExpressibleByArgument {
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
