/// Why nothing more can be written.
package enum OutputFailure: Error, Hashable {
    /// The reader has gone (`EPIPE`): there is nobody to tell.
    case closed
    /// A full disk, or another error.
    case failed(SystemError)

    /// How a command ends by it: in silence where the reader has gone, otherwise with an error.
    package func end(writing output: String) throws(ToolError) -> ExitStatus {
        switch self {
        case .closed: return .success
        case .failed(let error):
            throw .init("can't write \(output): \(error); make room or name another output", exit: .outputFailure)
        }
    }
}
