import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import Reachability
import ReachabilityCore

/// `netwatch wait`: sleeps until the condition holds.
struct WaitCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait for the network.",
        discussion: .guide(
            [
                .init("Wait for any path, for at most a minute", "netwatch wait --timeout 60s"),
                .init("Wait for a path that is not cellular", "netwatch wait --for wifi"),
                .init("Wait for the route to a host, such as a VPN's", "netwatch wait --to 10.8.0.1 --timeout 2m"),
                .init("Wait for the network to go away", "netwatch wait --for notReachable"),
                .init(
                    "Wait until a server answers, and no portal",
                    "netwatch wait --validated --validate http://status.example.com/204"
                ),
            ],
            """
            With --to, waits for the kernel's route to that host instead: with --for notReachable, until no address has \
            one, otherwise until any has. Exit status: 0 the status is as requested, 75 timeout.
            """
        )
    )

    @OptionGroup var waiting: WaitOptions

    @Option(
        parsing: .unconditional,
        help: .init("Wait for the route to a host: an address, or a name to resolve.", valueName: "host"),
        transform: HostArgument.parse
    )
    var to: Host?

    @OptionGroup(title: "Validation") var validated: ValidatedOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try validated.check(waiting.condition)
        guard validated.isNeeded, to != nil else { return }
        throw ValidationError("--validated is about the default path; leave out --to")
    }

    func execute() throws(ToolError) -> ExitStatus {
        let deadline = waiting.timeout.map(SystemClock.now.advanced)
        if let arguments = validated.processArguments(common) {
            return try ValidatedWait(waiting: waiting, deadline: deadline).run(common.configuration, arguments)
        }
        if let to {
            return try HostWait(host: to, waiting: waiting, deadline: deadline).run(common.configuration)
        }
        let condition = waiting.condition
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(common.configuration, wakeup: wakeup) { change in
            if condition.holds(for: change.status) { wakeup.signal() }
        }
        // Nothing else wakes it: a state that held only for a moment counts too.
        guard try session.next(until: deadline) != .wakeup else { return .success }
        throw waiting.timeUp(session.monitor.stateWords(common.kinds.context(user: geteuid())))
    }
}

/// The options of the commands that wait.
struct WaitOptions: ParsableArguments {
    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: .init("Wait for this status.", valueName: "status")
    )
    var condition: StateArgument = .reachable

    @Option(
        parsing: .unconditional,
        help: .init("Stop waiting after this (default: never).", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var timeout: Duration?
}

extension WaitOptions {
    /// Returns the timeout error, which names the missing condition.
    func timeUp(_ words: String, waitedFor awaited: String? = nil) -> ToolError {
        let awaited = awaited ?? condition.rawValue
        return .init("the time is up: \(words) (waited for \(awaited)); give a longer --timeout", exit: .timedOut)
    }
}

/// The value of `--for`.
enum StateArgument: String, CaseIterable, ExpressibleByArgument {
    /// Any usable path.
    case reachable
    /// Wi-Fi, or another path that is not cellular.
    case wifi
    /// A cellular path.
    case cellular
    /// No usable path.
    case notReachable

    /// Whether a state meets the condition; `unknown` never does.
    func holds(for status: ReachabilityStatus) -> Bool {
        switch self {
        case .reachable: status.isReachable
        case .wifi: status == .wifi
        case .cellular: status == .cellular
        case .notReachable: status == .notReachable
        }
    }
}
