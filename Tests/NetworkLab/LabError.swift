import Glibc

/// A refusal by the kernel, or a timeout.
package struct LabError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A description of the attempt.
    package var operation: String
    /// The kernel's errno (errno(3)); `ETIMEDOUT` for a timeout.
    package var errno: Int32
    /// The kernel's own message (`NLMSGERR_ATTR_MSG`), or a remedy.
    package var detail: String?

    /// Makes an error.
    package init(_ operation: String, errno: Int32, detail: String? = nil) {
        self.operation = operation
        self.errno = errno
        self.detail = detail
    }

    /// The attempt, its error, and further details.
    package var description: String {
        let reason = String(cString: strerror(errno))
        return "\(operation): \(reason) (errno \(errno))" + (detail.map { ": \($0)" } ?? "")
    }
}
