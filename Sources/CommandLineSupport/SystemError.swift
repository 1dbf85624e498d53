import Glibc

/// The errno of a system call that failed (errno(3)).
package struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The number.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The error of the last system call of this thread.
    package static var last: Self { .init(code: errno) }

    /// The C library's words for it (strerror(3); each thread has its own since glibc 2.32).
    package var description: String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }
}

/// Makes a system call again for as long as a signal interrupts it.
///
/// - Throws: The errno, where the call answers -1.
package func retryingOnInterrupt<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        let error = SystemError.last
        if error.code != EINTR { throw error }
    }
}

/// The three descriptors that every program is given, unless its parent closed one.
package enum StandardDescriptors {
    /// Fills gaps with /dev/null, so that no socket gets the number of a missing stdout, and a write to it fails.
    package static func fillGaps() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // It gets the lowest free number, which is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
