package import ArgumentParser

/// A command of the tool: it says with which code to exit, or fails with one line for stderr.
package protocol NetwatchCommand: ParsableCommand {
    /// Does what the command is for.
    func execute() throws(ToolError) -> ExitStatus
}

/// The summaries of commands that are executables of their own, for the help of `netwatch` and for theirs.
package enum CommandSummary {
    package static let fetch = "Send one HTTP request and print the answer's body."
}
