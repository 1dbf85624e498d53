import Glibc
package import NetworkLab

/// A command as the job of a shell that controls a terminal, where it can be stopped and resumed.
package final class ShellSession {
    package let terminal: PseudoTerminal
    /// The terminal's settings before.
    package let before: [UInt8]
    private let shell: pid_t

    /// Starts it; the shell prints when it has been stopped, resumes it when a line is typed, and prints its end.
    ///
    /// - Parameters:
    ///   - lab: The namespace of the shell.
    ///   - arguments: The arguments of `netwatch`.
    /// - Throws: `LabError` where the terminal or the shell can't be had.
    package init(in lab: LabNamespace, _ arguments: [String] = []) throws {
        terminal = try PseudoTerminal()
        terminal.resize(columns: 80, rows: 24)
        before = terminal.settings
        let files = try FileActions()
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            try files.open(terminal: terminal.path, as: number)
        }
        let story = "\"$@\"; echo was stopped; read line; fg; echo ended with $?; exec cat > /dev/null"
        let variables = ["TERM": "xterm-256color", "LANG": "C.UTF-8"]
        let words = ["-m", "-c", story, "sh", ToolBinary.path] + arguments
        shell = try lab.run { try files.spawn("/bin/sh", words, environment: variables, leadsSession: true) }
    }

    deinit {
        // The terminal's end ends the shell and its jobs.
        terminal.screen.end()
        kill(shell, SIGKILL)
        var status: Int32 = 0
        waitpid(shell, &status, 0)
    }
}
