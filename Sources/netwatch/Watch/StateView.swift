import CommandLineSupport
import Glibc
import Reachability
import ReachabilityCore

/// Shows the state and its changes: as the live view on a terminal that can show it, otherwise as lines.
struct StateView {
    /// What is printed where lines are.
    var lines: StateWatch
    /// What the live view shows.
    var live: LiveConfiguration
    /// Whether lines are printed on a terminal, too.
    var prefersLines = false

    /// Shows it to the end.
    func run() throws(ToolError) -> ExitStatus {
        guard !prefersLines else { return try lines.run() }
        guard isatty(STDOUT_FILENO) == 1 else { return try printLines(instead: "stdout is none") }
        switch try LiveScreen.show(live) {
        case .shown(let status): return status
        case .unfit(let reason):
            if let words = reason.words, live.hosts.isEmpty {
                // Where stderr can't be written there is nobody to tell.
                try? LineOutput.standardError.write("netwatch: no live view: \(words); printing lines\n")
            }
            return try printLines(instead: reason.words ?? "a dumb one can't show it")
        }
    }

    /// Prints lines, which tell nothing of hosts.
    private func printLines(instead why: String) throws(ToolError) -> ExitStatus {
        guard live.hosts.isEmpty else {
            throw .init(
                "--to is for the live view, which needs a terminal (\(why)); use 'netwatch explain HOST' instead",
                exit: .usage
            )
        }
        return try lines.run()
    }
}
