/// Why a command ends early: one line for stderr, and the code to exit with.
struct ToolError: Error, Hashable {
    /// What went wrong, where, and what to do about it; one line.
    let message: String
    /// The code to exit with.
    let status: ExitStatus

    init(_ message: String, exit status: ExitStatus) {
        self.message = message
        self.status = status
    }
}
