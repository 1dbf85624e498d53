import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import NetworkClientCore
import RequestGate

/// Runs one command and passes signals on to it.
///
/// The command is in this process's group, so what the terminal sends (Ctrl-C, Ctrl-Z, a resize) has reached it already;
/// only what a process sent to this one alone is passed on.
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
        var wasToldToEnd = false
        while true {
            if let outcome = child.outcome() { return .init(outcome: outcome, wasToldToEnd: wasToldToEnd) }
            guard case .signal(let signal) = try session.next(), signal.number != SIGCHLD else { continue }
            if Self.ending.contains(signal.number) { wasToldToEnd = true }
            if signal.isFromProcess { child.send(signal.number) }
            if signal.number == SIGTSTP { SignalActions.stopUntilContinued() }
        }
    }

    /// How a run ended.
    struct Report {
        /// The command's end.
        var outcome: ChildProcess.Outcome
        /// Whether one of ``CommandSupervisor/ending`` came.
        var wasToldToEnd: Bool
    }

    private func start(_ command: CommandWords) throws(ToolError) -> ChildProcess {
        do throws(SystemError) {
            return try .start(command, mask: session.inheritedMask)
        } catch {
            let name = command.name.escapedForTerminal
            guard error.code != ENOENT else {
                throw .init("can't find the command '\(name)'; give its path, or set PATH", exit: .commandNotFound)
            }
            throw .init("can't execute '\(name)': \(error); check that it is a program", exit: .notExecutable)
        }
    }
}

/// Decides what follows when a command has ended.
struct RunPolicy: Hashable {
    /// How often it runs, and how long it rests between its runs.
    private let retry: RetryPolicy
    /// How often it has run.
    private(set) var runs = 0

    /// Creates a policy, with the delays of the client's: up to 0.5 s, 1 s, 2 s … 20 s.
    init(retries: UInt) {
        retry = RetryPolicy(maximumAttempts: Int(min(retries, UInt(Int.max) - 1)) + 1)
    }

    /// The next step.
    enum Step: Hashable {
        /// It is over, with the command's own code.
        case exit(ExitStatus)
        /// The network is waited for, and the command runs again, but not before so long.
        case again(Duration)
    }

    /// Decides.
    ///
    /// | ended | network | told to end | retries left | follows |
    /// |---|---|---|---|---|
    /// | well | any | any | any | exit |
    /// | badly | there all the time | any | any | exit |
    /// | badly | away at some time | yes | any | exit |
    /// | badly | away at some time | no | none | exit |
    /// | badly | away at some time | no | some | again |
    ///
    /// A command that fails at once whenever the network is back does not loop: each delay may be twice the one before.
    /// It passes while the network is away, so that nobody waits twice.
    ///
    /// - Parameters:
    ///   - outcome: How the command ended.
    ///   - wasAway: Whether the network was away at some time while it ran.
    ///   - wasToldToEnd: Whether a signal that ends programs came meanwhile: the user wants no further run.
    ///   - generator: Where the delay's jitter comes from.
    /// - Returns: What to do.
    mutating func next(
        after outcome: ChildProcess.Outcome,
        wasAway: Bool,
        wasToldToEnd: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Step {
        runs += 1
        guard outcome != .exited(0), wasAway, !wasToldToEnd else { return .exit(outcome.exitStatus) }
        // With --retries the user declares that the command may run several times.
        let traits = RequestTraits(isIdempotent: true, isReplayable: true)
        let failure = AttemptFailure(.transient, .maybeProcessed)
        guard case .retry(let delay, _) = retry.decide(failure, traits, attempts: runs, using: &generator) else {
            return .exit(outcome.exitStatus)
        }
        return .again(delay)
    }
}
