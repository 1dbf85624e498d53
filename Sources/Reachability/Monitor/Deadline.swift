/// Does something for no longer than a time.
///
/// - Parameters:
///   - timeout: How long, on `ContinuousClock`, which goes on while the machine is suspended; a time beyond
///     ``longestTimeout`` counts as that.
///   - body: What to do; cancelled when the time is up or the task is cancelled.
/// - Returns: What the body returns; nil if the time was up.
/// - Throws: What the body throws, or `CancellationError` if the task is cancelled.
func withDeadline<Result: Sendable>(
    _ timeout: Duration,
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
    let deadline = ContinuousClock.now.advanced(by: min(timeout, longestTimeout))
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

/// Sleeps a part at a time: on Linux the memory of a sleep that is cancelled is kept until it was due.
private func sleep(until deadline: ContinuousClock.Instant) async throws {
    var now = ContinuousClock.now
    while now < deadline {
        try await Task.sleep(until: min(deadline, now.advanced(by: .seconds(600))), clock: .continuous)
        now = .now
    }
}

/// Ten years: behind it, moments no longer fit the clock's numbers.
private let longestTimeout = Duration.seconds(10 * 365 * 86_400)
