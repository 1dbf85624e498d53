import Glibc
import Synchronization

/// Makes a system call until no signal interrupts it.
///
/// - Returns: The call's result, 0 or more.
/// - Throws: The errno, with a description of the attempt.
@discardableResult
package func systemCall<Value: SignedInteger>(
    _ operation: @autoclosure () -> String,
    _ call: () -> Value
) throws(LabError) -> Value {
    while true {
        let value = call()
        if value >= 0 { return value }
        let code = errno
        if code != EINTR { throw LabError(operation(), errno: code) }
    }
}

/// Sets one of a socket's integer options.
///
/// The corresponding C function is `setsockopt`.
package func setOption(
    _ descriptor: Int32,
    level: Int32,
    _ option: Int32,
    _ value: Int32,
    _ name: String
) throws(LabError) {
    var value = value
    try systemCall("setsockopt \(name)") {
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// Returns the type and the permissions of a file (`st_mode`, lstat(2)).
package func fileMode(_ path: String) throws(LabError) -> UInt32 {
    var status = stat()
    try systemCall("lstat \(path)") { lstat(path, &status) }
    return status.st_mode
}

/// A file descriptor that is closed with its last owner, or before.
package final class OwnedDescriptor: Sendable {
    /// The descriptor's number.
    package let number: Int32
    private let isOpen = Atomic(true)

    /// Takes over an open descriptor.
    package init(_ number: Int32) { self.number = number }

    deinit { close() }

    /// Closes the descriptor now; ``number`` must not be used afterwards.
    package func close() {
        if isOpen.exchange(false, ordering: .relaxed) { Glibc.close(number) }
    }
}

extension Duration {
    /// The duration as poll(2) takes it: whole milliseconds, 0 if it is negative.
    package var pollMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        return Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}
