import Glibc
package import LinuxSystem
import NetwatchCore

/// Writes whole lines to a descriptor immediately, without a buffer.
package struct LineOutput: Sendable {
    /// The descriptor to write to; its opener closes it.
    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// stdout.
    package static let standard = Self(descriptor: STDOUT_FILENO)

    /// stderr.
    package static let standardError = Self(descriptor: STDERR_FILENO)

    /// Writes all the bytes, however many calls it takes.
    ///
    /// It waits for a slow reader, on a descriptor that does not block too (write(2), poll(2)).
    package func write(_ bytes: UnsafeRawBufferPointer) throws(OutputFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = .init(rebasing: rest.dropFirst(written))
            } else {
                try recover(from: SystemError.last)
            }
        }
    }

    /// Writes all of an array.
    package func write(_ bytes: [UInt8]) throws(OutputFailure) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(OutputFailure) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    /// Writes text, which should end with a line feed.
    package func write(_ text: String) throws(OutputFailure) {
        try write(Array(text.utf8))
    }

    private func recover(from error: SystemError) throws(OutputFailure) {
        switch error.code {
        case EINTR: return
        case EAGAIN:
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // Its result does not matter: the next write reports a failure.
            _ = poll(&wait, 1, -1)
        case EPIPE: throw .closed
        default: throw .failed(error)
        }
    }
}

/// Why nothing more can be written.
package enum OutputFailure: Error, Hashable {
    /// The pipe is closed (`EPIPE`), which is not reported.
    case closed
    /// A full disk, or another error.
    case failed(SystemError)

    /// The error of the call that failed.
    package var systemError: SystemError {
        switch self {
        case .closed: .init(code: EPIPE)
        case .failed(let error): error
        }
    }

    /// The end of a command with this failure: silent if the pipe is closed, otherwise with an error.
    package func end(writing output: String) throws(ToolError) -> ExitStatus {
        switch self {
        case .closed: return .success
        case .failed(let error):
            throw .init("can't write \(output): \(error); \(error.writingRemedy)", exit: .outputFailure)
        }
    }
}

extension SystemError {
    /// What to do after a write that failed.
    package var writingRemedy: String {
        // The limit of the process or of the file system.
        code == EFBIG
            ? "raise the limit on file sizes (ulimit -f) or name an output on a file system that takes larger files"
            : "make room or name another output"
    }
}

/// Prints a command's whole output on stdout.
package enum StandardOutput {
    /// Writes text.
    ///
    /// - Returns: The given status, with which the command ends, also if the pipe is closed.
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

/// Lines on stderr.
package enum StandardError {
    /// Prints a line, if that is possible.
    package static func note(_ text: String) {
        try? LineOutput.standardError.write("netwatch: \(text.escapedForTerminal)\n")
    }
}
