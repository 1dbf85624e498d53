import ArgumentParser
import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// The options of the commands that wait until the path is validated.
struct ValidatedOptions: ParsableArguments {
    @Flag(name: .customLong("validated"), help: "Wait until a server of --validate answers as itself.")
    var isNeeded = false

    @OptionGroup var validation: ValidationOptions

    /// Checks that both are given, and that the path exists for which is waited.
    func check(_ condition: StateArgument) throws {
        let isOn = !validation.endpoints.isEmpty
        if isNeeded, !isOn { throw ValidationError("--validated needs --validate URL; name a server to ask") }
        if isOn, !isNeeded { throw ValidationError("--validate needs --validated here; add it to wait for the answer") }
        guard isNeeded, condition == .notReachable else { return }
        throw ValidationError("--for notReachable waits for no path at all; leave out --validated")
    }

    /// The arguments of `netwatch-validate`; nil if validation is off.
    ///
    /// The user waits for the verdict, so a metered path is probed as well.
    func processArguments(_ common: CommonOptions) -> [String]? {
        guard isNeeded else { return nil }
        let arguments = validation.processArguments(common)
        return validation.probesMeteredPaths ? arguments : arguments.map { $0 + ["--validate-metered"] }
    }

    /// Starts validation, if it is on.
    func validator(
        _ session: MonitorSession,
        _ common: CommonOptions,
        sink: @escaping @Sendable (ValidationSummary?) -> Void
    ) throws(ToolError) -> Validator? {
        try .start(processArguments(common), wakeup: session.wakeup, receive: sink)
    }
}

/// Waits until the state is as requested and its path is validated.
struct ValidatedWait {
    /// The state, and the text of the timeout error.
    let waiting: WaitOptions
    /// When to give up; nil for never.
    let deadline: Instant?

    /// Waits until both hold.
    func run(_ configuration: MonitorConfiguration, _ arguments: [String]) throws(ToolError) -> ExitStatus {
        let network = ConditionWatcher(.init(waiting.condition, needsValidation: true))
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(configuration, wakeup: wakeup) { change in
            if network.note(change.path) { wakeup.signal() }
        }
        let validator = try Validator.start(arguments, wakeup: wakeup) { if network.note($0) { wakeup.signal() } }
        // A verdict that held only for a moment counts, too.
        let awakening = try session.next(until: deadline)
        try validator?.check()
        guard awakening != .wakeup else { return .success }
        let current = network.current
        let words = current.path.map { String.verdict(current.currentReport, $0.status) }
        throw waiting.timeUp(words ?? "the state is not known yet", waitedFor: current.awaited.words)
    }
}

extension String {
    /// The state and the verdict, for the timeout error.
    static func verdict(_ report: ValidationSummary?, _ status: ReachabilityStatus) -> String {
        guard status.isReachable else { return "the state is '\(status.name)'" }
        return report.map { "the state is " + ValidationWords.line($0, status) }
            ?? "the state is '\(status.name)', and no server has answered yet"
    }
}
