import Glibc

/// The error number of a system call that failed (errno(3)).
package struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The error number.
    package let code: Int32
    /// The function that failed; empty where the caller knows.
    package let call: String

    /// Creates an error from an error number.
    package init(code: Int32, call: String = "") {
        self.code = code
        self.call = call
    }

    /// The error of the calling thread's last system call.
    package static var last: Self { .init(code: errno) }

    /// The C library's text for the error number: `Permission denied`.
    ///
    /// The corresponding C function is `strerror`, whose result belongs to the calling thread since glibc 2.32.
    package var description: String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }
}

/// Makes a system call, and makes it again for as long as a signal interrupts it (`EINTR`).
///
/// - Parameters:
///   - name: The function, for the error.
///   - call: Calls it; -1 means failure.
/// - Returns: The call's result.
/// - Throws: The errno of the call.
package func retryingOnInterrupt<Result: SignedInteger>(
    _ name: String = "",
    _ call: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        let code = errno
        if code != EINTR { throw .init(code: code, call: name) }
    }
}
