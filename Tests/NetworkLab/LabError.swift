import Glibc

/// What the kernel refused, or what did not come in time.
public struct LabError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was tried, for a person to read.
    public var operation: String
    /// The kernel's errno (errno(3)); `ETIMEDOUT` for what did not come in time.
    public var errno: Int32
    /// What the kernel said beside the errno (`NLMSGERR_ATTR_MSG`), or what to do about it.
    public var detail: String?

    /// Makes an error.
    public init(_ operation: String, errno: Int32, detail: String? = nil) {
        self.operation = operation
        self.errno = errno
        self.detail = detail
    }

    /// What was tried, what came of it, and what more is known.
    public var description: String {
        let reason = String(cString: strerror(errno))
        return "\(operation): \(reason) (errno \(errno))" + (detail.map { ": \($0)" } ?? "")
    }
}
