import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// Runs one command and passes signals on to it.
///
/// The command is in this process's group, so it has already received the terminal's signals (Ctrl-C, Ctrl-Z, a resize);
/// only signals that a process sent to this process alone are passed on.
struct CommandSupervisor {
    /// The signals that are passed on.
    static let passedOn: [Int32] = [
        SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT,
    ]
    /// Those of them after which the command is not run again.
    static let ending: Set<Int32> = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// The running monitor.
    let session: MonitorSession

    /// Runs a command to its end.
    func run(_ command: CommandWords) throws(ToolError) -> Report {
        let child = try start(command)
        var wasTerminated = false
        while true {
            if let outcome = child.outcome() { return .init(outcome: outcome, wasTerminated: wasTerminated) }
            guard case .signal(let signal) = try session.next(), signal.number != SIGCHLD else { continue }
            if Self.ending.contains(signal.number) { wasTerminated = true }
            if signal.isFromProcess { child.send(signal.number) }
            if signal.number == SIGTSTP { SignalActions.stopUntilContinued() }
        }
    }

    /// How a run ended.
    struct Report {
        /// The command's end.
        var outcome: ChildProcess.Outcome
        /// Whether one of ``CommandSupervisor/ending`` was received.
        var wasTerminated: Bool
    }

    private func start(_ command: CommandWords) throws(ToolError) -> ChildProcess {
        do throws(SystemError) {
            return try .start(command, mask: session.inheritedMask)
        } catch {
            let name = command.name.escapedForTerminal
            guard error.code != ENOENT else {
                throw .init("cannot find the command '\(name)'; give its path, or set PATH", exit: .commandNotFound)
            }
            throw .init("cannot execute '\(name)': \(error); check that it is a program", exit: .notExecutable)
        }
    }
}

/// Decides whether a command that has ended runs again.
struct RunPolicy: Hashable {
    /// How often the command may run again.
    private let retries: UInt
    /// How often it has run.
    private(set) var runs: UInt = 0
    /// The upper bound of the next delay: 0.5 s, 1 s, 2 s … 20 s, as between the attempts of a request.
    private var bound = Backoff(from: .milliseconds(500), to: .seconds(20))

    /// Creates a policy.
    init(retries: UInt) { self.retries = retries }

    /// Whether the command may run again after the run under way.
    var hasRetries: Bool { runs < retries }

    /// The next step.
    enum Step: Hashable {
        /// It is over, with the command's own code.
        case exit(ExitStatus)
        /// The network is waited for, and the command runs again, but not before so long.
        case again(Duration)
    }

    /// Decides.
    ///
    /// | ended | network | terminated | retries left | next |
    /// |---|---|---|---|---|
    /// | well | any | any | any | exit |
    /// | badly | there all the time | any | any | exit |
    /// | badly | away at some time | yes | any | exit |
    /// | badly | away at some time | no | none | exit |
    /// | badly | away at some time | no | some | again |
    ///
    /// A command that keeps failing immediately does not loop: each delay may be twice the previous one.
    /// The delay runs while the network is away, so that it does not add to the outage.
    ///
    /// - Parameters:
    ///   - outcome: How the command ended.
    ///   - wasAway: Whether the network was away at some time while it ran.
    ///   - wasTerminated: Whether a terminating signal was received meanwhile: then there is no further run.
    ///   - generator: The source of the delay's jitter.
    /// - Returns: The next step.
    mutating func next(
        after outcome: ChildProcess.Outcome,
        wasAway: Bool,
        wasTerminated: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Step {
        runs += 1
        guard outcome != .exited(0), wasAway, !wasTerminated, runs <= retries else {
            return .exit(outcome.exitStatus)
        }
        return .again(bound.failed(jitter: &generator))
    }
}
