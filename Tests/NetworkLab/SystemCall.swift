import Glibc

/// Makes a system call until no signal interrupts it.
///
/// - Returns: What the call returned, 0 or more.
/// - Throws: The errno, with what was tried.
@discardableResult
func systemCall<Value: SignedInteger>(
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
func setOption(_ descriptor: Int32, level: Int32, _ option: Int32, _ value: Int32, _ name: String) throws(LabError) {
    var value = value
    try systemCall("setsockopt \(name)") {
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// A file descriptor that is closed with its last owner.
final class OwnedDescriptor: Sendable {
    /// The descriptor's number.
    let number: Int32

    /// Takes over an open descriptor.
    init(_ number: Int32) { self.number = number }

    deinit { close(number) }
}
