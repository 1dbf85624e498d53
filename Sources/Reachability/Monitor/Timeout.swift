import LinuxSystem

/// Runs an operation until a timeout.
///
/// - Parameters:
///   - timeout: The timeout; nil for none. If it is not positive, the operation is not run.
///   - operation: Returns nil if the task is cancelled.
/// - Returns: The operation's result; nil if it timed out.
/// - Throws: ``ReachabilityError/Code/cancelled``.
func withTimeout<Value: Sendable>(
    _ timeout: Duration?,
    _ operation: @escaping @Sendable () async -> Value?
) async throws(ReachabilityError) -> Value? {
    var value: Value?
    if let timeout {
        guard timeout > .zero else { return nil }
        do { value = try await withDeadline(timeout, operation) ?? nil } catch { throw .cancelled }
    } else {
        value = await operation()
    }
    if value == nil, Task.isCancelled { throw .cancelled }
    return value
}
