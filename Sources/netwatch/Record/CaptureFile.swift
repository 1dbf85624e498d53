import CommandLineSupport
import Glibc
import NetwatchCore

/// The file that a recording goes to.
enum CaptureFile {
    /// Opens it; `-` is stdout.
    ///
    /// A regular file that holds something is refused, so that a slip does not cost an earlier recording; pipes, devices
    /// and empty files (as mktemp(1) makes them) are taken.
    ///
    /// - Throws: What to tell the user.
    static func open(_ path: String) throws(ToolError) -> LineOutput {
        guard path != "-" else { return try standardOutput() }
        let name = path.escapedForTerminal
        do throws(SystemError) {
            let descriptor = try retryingOnInterrupt {
                Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o666)
            }
            var status = stat()
            _ = try retryingOnInterrupt { fstat(descriptor, &status) }
            guard status.st_mode & S_IFMT != S_IFREG || status.st_size == 0 else { throw .init(code: EEXIST) }
            return LineOutput(descriptor: descriptor)
        } catch {
            guard error.code != EEXIST else {
                throw .init("'\(name)' holds something already; remove it, or name another file", exit: .usage)
            }
            throw .init("can't create '\(name)': \(error); name a file in a directory of yours", exit: .outputFailure)
        }
    }

    private static func standardOutput() throws(ToolError) -> LineOutput {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw .init("a capture is not for terminals; send stdout to a file or a pipe", exit: .usage)
        }
        return .standard
    }
}
