import ArgumentParser

/// A command of the tool: it says with which code to exit, or fails with one line for stderr.
protocol NetwatchCommand: ParsableCommand {
    /// Does what the command is for.
    func execute() throws(ToolError) -> ExitStatus
}
