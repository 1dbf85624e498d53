import Glibc

/// What the kernel refused, or what did not come in time.
package struct LabError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was tried, for a person to read.
    package var operation: String
    /// The kernel's errno (errno(3)); `ETIMEDOUT` for what did not come in time.
    package var errno: Int32
    /// What the kernel said beside the errno (`NLMSGERR_ATTR_MSG`), or what to do about it.
    package var detail: String?

    /// Makes an error.
    package init(_ operation: String, errno: Int32, detail: String? = nil) {
        self.operation = operation
        self.errno = errno
        self.detail = detail
    }

    /// What was tried, what came of it, and what more is known.
    package var description: String {
        let reason = String(cString: strerror(errno))
        return "\(operation): \(reason) (errno \(errno))" + (detail.map { ": \($0)" } ?? "")
    }
}
