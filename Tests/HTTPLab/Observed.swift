import Glibc
import Locking
import NetworkLab

/// A value that any thread can change, and whose changes tests can wait for.
///
/// Unlike ``LabInbox``, it does not block a thread of Swift's tasks.
package final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let identifier: Int
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Value?, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
        var lastIdentifier = 0
        /// The waits that were begun and are not among the waiters yet; one that times out before that is removed.
        var begun: Set<Int> = []
    }

    private let state: Lock<State>

    /// Creates an observed value.
    package init(_ value: Value) { state = Lock(State(value: value)) }

    /// The current value.
    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, and resumes the waiters whose condition it satisfies.
    @discardableResult
    package func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
        let (result, value, satisfied) = state.withLock { state in
            let result = change(&state.value)
            let satisfied = state.waiters.filter { $0.condition(state.value) }
            if !satisfied.isEmpty {
                state.waiters.removeAll { waiter in satisfied.contains { $0.identifier == waiter.identifier } }
            }
            return (result, state.value, satisfied)
        }
        for waiter in satisfied { waiter.continuation.resume(returning: value) }
        return result
    }

    /// Waits until the value satisfies a condition, and returns it.
    ///
    /// - Throws: `ETIMEDOUT` after the limit, with the condition and the value.
    @discardableResult
    package func wait(
        for what: String,
        within limit: Duration = .seconds(120),
        until condition: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        let identifier = state.withLock { state in
            state.lastIdentifier += 1
            state.begun.insert(state.lastIdentifier)
            return state.lastIdentifier
        }
        let deadline = Task {
            try await Task.sleep(for: limit)
            abandon(identifier)
        }
        defer { deadline.cancel() }
        if let value = await registered(identifier, condition) { return value }
        throw LabError("wait for \(what)", errno: ETIMEDOUT, detail: "seen: \(value)")
    }

    private func registered(_ identifier: Int, _ condition: @escaping @Sendable (Value) -> Bool) async -> Value? {
        await withCheckedContinuation { continuation in
            let (waits, value): (Bool, Value?) = state.withLock { state in
                let isInTime = state.begun.remove(identifier) != nil
                if condition(state.value) { return (false, state.value) }
                guard isInTime else { return (false, nil) }
                state.waiters.append(.init(identifier: identifier, condition: condition, continuation: continuation))
                return (true, nil)
            }
            if !waits { continuation.resume(returning: value) }
        }
    }

    private func abandon(_ identifier: Int) {
        let late = state.withLock { state -> Waiter? in
            state.begun.remove(identifier)
            guard let position = state.waiters.firstIndex(where: { $0.identifier == identifier }) else { return nil }
            return state.waiters.remove(at: position)
        }
        late?.continuation.resume(returning: nil)
    }
}
