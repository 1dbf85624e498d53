public import ReachabilityCore

extension ReachabilityMonitor {
    /// Waits until the state is what is wanted; returns at once if it is so already.
    ///
    /// ```swift
    /// try await monitor.wait(for: .reachable, timeout: .seconds(30))
    /// ```
    ///
    /// Nothing is polled: the task sleeps until the monitor's notice or the deadline wakes it.
    ///
    /// - Parameters:
    ///   - condition: The state that is wanted.
    ///   - timeout: How long to wait, on `ContinuousClock`; nil waits for ever. A time that is not positive waits not
    ///     at all.
    /// - Returns: The notice with which the condition held.
    /// - Throws: ``WaitTimeout`` if the time is up, `CancellationError` if the task is cancelled.
    @discardableResult
    public func wait(for condition: WaitCondition, timeout: Duration? = nil) async throws -> StateChange {
        try Task.checkCancellation()
        if let latest, condition.isMet(by: latest.status) { return latest }
        guard let timeout else { return try await first(condition) }
        if timeout > .zero, let change = try await withDeadline(timeout, { try await self.first(condition) }) {
            return change
        }
        try Task.checkCancellation()
        throw WaitTimeout(condition: condition, timeout: timeout, path: path)
    }

    /// The first notice that meets a condition; no notice is passed over that fits in the buffer.
    private func first(_ condition: WaitCondition) async throws -> StateChange {
        for await change in changes(bufferingNewest: 64) where condition.isMet(by: change.status) {
            return change
        }
        throw CancellationError()
    }
}
