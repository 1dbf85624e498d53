/// Prints a command's whole answer on stdout.
package enum StandardOutput {
    /// Writes text.
    ///
    /// - Returns: The given status, with which the command ends; also where nobody reads any more.
    package static func write(_ text: String, thenExit status: ExitStatus = .success) throws(ToolError) -> ExitStatus {
        try write(Array(text.utf8), thenExit: status)
    }

    /// Writes bytes.
    package static func write(_ bytes: [UInt8], thenExit status: ExitStatus = .success) throws(ToolError) -> ExitStatus
    {
        do throws(OutputFailure) {
            try LineOutput.standard.write(bytes)
            return status
        } catch .closed {
            return status
        } catch {
            return try error.end(writing: "stdout")
        }
    }
}
