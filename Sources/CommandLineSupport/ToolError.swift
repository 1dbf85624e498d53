/// Why a command ends early: one line for stderr, and the code to exit with.
package struct ToolError: Error, Hashable {
    /// What went wrong, where, and what to do about it; one line.
    package let message: String
    /// The code to exit with.
    package let status: ExitStatus

    package init(_ message: String, exit status: ExitStatus) {
        self.message = message
        self.status = status
    }
}
