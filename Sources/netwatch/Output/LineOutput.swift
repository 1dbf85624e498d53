import Glibc

/// Writes whole lines to a descriptor at once, without a buffer of its own.
struct LineOutput: Sendable {
    /// Where to write; whoever opened it closes it.
    let descriptor: Int32

    /// stdout.
    static let standard = Self(descriptor: STDOUT_FILENO)

    /// stderr.
    static let standardError = Self(descriptor: STDERR_FILENO)

    /// Writes all the bytes, however many calls it takes.
    ///
    /// It waits for a slow reader, on a descriptor that does not block too (write(2), poll(2)).
    func write(_ bytes: [UInt8]) throws(OutputFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else {
                try recover(from: SystemError.last)
            }
        }
    }

    /// Writes text, which should end with a line feed.
    func write(_ text: String) throws(OutputFailure) {
        try write(Array(text.utf8))
    }

    private func recover(from error: SystemError) throws(OutputFailure) {
        switch error.code {
        case EINTR: return
        case EAGAIN:
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // Whatever it answers, the next write tells.
            _ = poll(&wait, 1, -1)
        case EPIPE: throw .closed
        default: throw .failed(error)
        }
    }
}
