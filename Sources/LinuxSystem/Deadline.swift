/// Runs an asynchronous operation for no longer than a timeout.
///
/// - Parameters:
///   - timeout: The timeout, on `ContinuousClock`, which continues while the machine is suspended; at most ten years.
///   - body: The operation; cancelled at the timeout, and when the task is cancelled.
/// - Returns: The operation's result; nil if it timed out.
/// - Throws: The operation's error, or `CancellationError` if the task is cancelled.
package func withDeadline<Result: Sendable>(
    _ timeout: Duration,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
    let deadline = ContinuousClock.now.advanced(by: min(timeout, maximumTimeout))
    return try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await sleep(until: deadline)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next().flatMap(\.self)
    }
}

/// Sleeps in parts: on Linux the memory of a cancelled sleep is kept until the sleep would have ended.
private func sleep(until deadline: ContinuousClock.Instant) async throws {
    var now = ContinuousClock.now
    while now < deadline {
        try await Task.sleep(until: min(deadline, now.advanced(by: .seconds(600))), clock: .continuous)
        now = .now
    }
}

/// Ten years: later moments do not fit the clock's numbers.
private let maximumTimeout = Duration.seconds(10 * 365 * 86_400)
