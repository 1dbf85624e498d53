import Locking

/// A value that tasks can wait for.
final class WatchedValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        var lastNumber: UInt64 = 0
    }

    private struct Waiter {
        var isMet: @Sendable (Value) -> Bool
        var continuation: CheckedContinuation<Value, any Error>
    }

    private let state: Lock<State>

    init(_ value: Value) { state = .init(.init(value: value)) }

    /// The current value.
    var value: Value { state.withLock { $0.value } }

    /// Changes the value, and resumes the tasks whose condition is met then.
    func change<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        let (result, value, met) = state.withLock { state in
            let result = body(&state.value)
            let met = state.waiters.filter { $0.value.isMet(state.value) }
            for number in met.keys { state.waiters[number] = nil }
            return (result, state.value, met.map(\.value.continuation))
        }
        for continuation in met { continuation.resume(returning: value) }
        return result
    }

    /// Waits until a condition is met, and returns the value that meets it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    @discardableResult
    func wait(until isMet: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(.init(isMet: isMet, continuation: continuation), number)
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(
                throwing: CancellationError()
            )
        }
    }

    private func add(_ waiter: Waiter, _ number: UInt64) {
        let value: Value? = state.withLock { state in
            if waiter.isMet(state.value) { return state.value }
            state.waiters[number] = waiter
            return nil
        }
        if let value { return waiter.continuation.resume(returning: value) }
        // The task may have been cancelled before the waiter was added.
        guard Task.isCancelled else { return }
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
    }
}

/// A point in a test that others wait for, such as the moment at which a server responds.
///
/// ```swift
/// let signal = ScriptedSignal()
/// transport.expect(.get, "/v1/slow", .text("late").held(until: signal))
/// let request = session.get("slow")
/// request.pause()
/// signal.send()
/// ```
public final class ScriptedSignal: Sendable {
    private let isSent = WatchedValue(false)

    /// Creates a signal that was not sent.
    public init() {}

    /// Sends the signal: all tasks that wait for it continue, now and later.
    public func send() { isSent.change { $0 = true } }

    /// Waits until the signal is sent.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func wait() async throws { try await isSent.wait { $0 } }
}
