import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// `netwatch run`: runs a command once the network is there, and again if it failed during an outage.
struct RunCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Wait for the network, then run a command.",
        discussion: .guide(
            [
                .init("Start once the network is reachable", "netwatch run -- fetchmail"),
                .init("Stop waiting after five minutes", "netwatch run --timeout 5m -- ./report"),
                .init("Rerun after a network outage", "netwatch run --retries 3 -- ./sync"),
                .init(
                    "Do not start on a cellular path",
                    "netwatch run --no-cellular -- rclone sync photos remote:photos"
                ),
                .init(
                    "Start once a server answers, and no portal",
                    "netwatch run --validated --validate https://example.com/ok -- ./sync"
                ),
            ],
            """
            The command keeps the terminal, and receives the signals that are sent to netwatch. Path options and --netns \
            decide when the command starts, not what it uses: a running command is not kept off the next path. Exit \
            status: the command's; 75 timeout, 126 cannot run, 127 not found, 128+N signal N.
            """
        )
    )

    @OptionGroup var waiting: WaitOptions

    @Option(
        parsing: .unconditional,
        help: .init("Rerun it, at most this often, if it failed while the network was away.", valueName: "count"),
        transform: RetriesArgument.parse
    )
    var retries: UInt = 0

    @OptionGroup var required: RequirementOptions

    @OptionGroup(title: "Validation") var validated: ValidatedOptions

    @OptionGroup var common: CommonOptions

    @Argument(parsing: .postTerminator, help: .init("The command and its arguments, after '--'.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard let name = command.first else {
            throw ValidationError("The command is missing; write it after '--', as in 'netwatch run -- make fetch'")
        }
        guard !name.isEmpty else { throw ValidationError("The command is empty; write its name or path after '--'") }
        try awaited.validate()
        try validated.check(waiting.condition)
    }

    private var awaited: WaitedPath {
        .init(waiting.condition, required.requirement, needsValidation: validated.isNeeded)
    }

    func execute() throws(ToolError) -> ExitStatus {
        let network = ConditionWatcher(awaited)
        // Ignored signals stay ignored, as nohup(1) requires, except the signal of a child's end.
        signal(SIGCHLD, SIG_DFL)
        let signals = CommandSupervisor.passedOn.filter { !SignalActions.isIgnored($0) } + [SIGCHLD]
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(common.configuration, wakeup: wakeup, signals: signals) { change in
            if network.note(change.path) { wakeup.signal() }
        }
        let validator = try validated.validator(session, common) { if network.note($0) { wakeup.signal() } }
        return try run(in: session, network, validator)
    }

    private func run(
        in session: MonitorSession,
        _ network: ConditionWatcher,
        _ validator: Validator?
    ) throws(ToolError) -> ExitStatus {
        var policy = RunPolicy(retries: retries)
        var generator = SystemRandomNumberGenerator()
        let supervisor = CommandSupervisor(session: session)
        let gate = RunGate(session: session, network: network, waiting: waiting, validator: validator)
        var earliest: Instant?
        while true {
            if let status = try gate.wait(notBefore: earliest) { return status }
            network.resetAbsence()
            let report = try supervisor.run(.init(last: command))
            let wasTerminated = report.wasTerminated
            let mayRepeat = report.outcome != .exited(0) && !wasTerminated && policy.hasRetries
            let wasAway = mayRepeat && wasAway(session, network)
            switch policy.next(
                after: report.outcome,
                wasAway: wasAway,
                wasTerminated: wasTerminated,
                using: &generator
            ) {
            case .exit(let status): return status
            case .again(let delay):
                earliest = SystemClock.now.advanced(by: delay)
                reportRetry(report.outcome, network.current.holds ? delay : nil)
            }
        }
    }

    private func reportRetry(_ outcome: ChildProcess.Outcome, _ delay: Duration?) {
        let end = "ended with \(outcome.exitStatus.rawValue) while the network was away"
        let when = delay.map { "in \(QuantityText.short($0)): the network is back" } ?? "when the network is back"
        StandardError.note("the command \(end); it runs again \(when)")
    }

    /// Whether the network was away; a command may fail and end before the monitor has received the change.
    ///
    /// The view comes within milliseconds, unless the machine is busy, and an outage must not be overlooked then.
    private func wasAway(_ session: MonitorSession, _ network: ConditionWatcher) -> Bool {
        if !network.current.wasAway, let view = try? session.monitor.view(within: .seconds(10)) {
            network.note(view.evaluation.path)
        }
        return network.current.wasAway
    }
}

/// Holds a command back until the network is there.
struct RunGate {
    /// The monitor, and the main thread's wait.
    let session: MonitorSession
    /// The awaited path, and whether it holds.
    let network: ConditionWatcher
    /// The wait options.
    let waiting: WaitOptions
    /// The reports about the path; nil if validation is off.
    let validator: Validator?

    /// Waits for the network, and for the end of the delay between two runs, which the timeout does not limit.
    ///
    /// - Parameter earliest: The end of the delay; nil for none.
    /// - Returns: A status if a signal ends the tool instead.
    /// - Throws: The timeout error, with the current state.
    func wait(notBefore earliest: Instant?) throws(ToolError) -> ExitStatus? {
        let deadline = waiting.timeout.map(SystemClock.now.advanced)
        while true {
            let holds = network.current.holds
            switch Self.step(holds: holds, earliest: earliest, deadline: deadline, at: SystemClock.now) {
            case .start: return nil
            case .giveUp: throw timeUp
            case .sleep(let end): if let status = try sleep(until: end) { return status }
            }
        }
    }

    /// The next step of the wait.
    enum Step: Hashable {
        /// The command starts.
        case start
        /// The wait continues until an event, or until a moment; nil for no limit.
        case sleep(until: Instant?)
        /// The time is up.
        case giveUp
    }

    /// Decides.
    ///
    /// The network may go away during the delay between two runs: then it is waited for again.
    ///
    /// - Parameters:
    ///   - holds: Whether the network is there.
    ///   - earliest: The end of the delay; nil for none.
    ///   - deadline: When the time is up; nil for never.
    ///   - now: The moment.
    /// - Returns: The next step.
    static func step(holds: Bool, earliest: Instant?, deadline: Instant?, at now: Instant) -> Step {
        if holds {
            guard let earliest, now < earliest else { return .start }
            return .sleep(until: earliest)
        }
        guard let deadline, now >= deadline else { return .sleep(until: deadline) }
        return .giveUp
    }

    /// Sleeps until an event; returns a status if a signal ends the tool.
    private func sleep(until end: Instant?) throws(ToolError) -> ExitStatus? {
        try validator?.check()
        guard case .signal(let signal) = try session.next(until: end) else { return nil }
        if CommandSupervisor.ending.contains(signal.number) { return .endedBySignal(signal.number) }
        if signal.number == SIGTSTP { SignalActions.stopUntilContinued() }
        return nil
    }

    private var timeUp: ToolError {
        let network = network.current
        guard let path = network.path else {
            return waiting.timeUp("the state is not known yet", waitedFor: network.awaited.words)
        }
        if network.awaited.needsValidation, path.status.isReachable {
            return waiting.timeUp(.verdict(network.currentReport, path.status), waitedFor: network.awaited.words)
        }
        let reasons = path.reasons.isEmpty ? "" : ": \(path.reasons.map(\.rawValue).joined(separator: ", "))"
        let state = "the state is '\(path.status.name)': \(ChangeText.path(path))\(reasons)"
        return waiting.timeUp(state, waitedFor: network.awaited.words)
    }
}
