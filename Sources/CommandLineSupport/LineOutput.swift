import Glibc

/// Writes whole lines to a descriptor at once, without a buffer of its own.
package struct LineOutput: Sendable {
    /// Where to write; whoever opened it closes it.
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
            // Whatever it answers, the next write tells.
            _ = poll(&wait, 1, -1)
        case EPIPE: throw .closed
        default: throw .failed(error)
        }
    }
}
