import CommandLineSupport
import Glibc
import NetwatchCore

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

    /// The monitor beside which it runs.
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
