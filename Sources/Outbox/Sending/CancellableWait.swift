import Locking

/// The wait for a closure that may take no notice of a cancellation.
final class CancellableWait<Value: Sendable>: Sendable {
    private enum State {
        case created
        case waiting(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
        case resumed
    }

    private let state = Lock(State.created)

    /// Returns the value of a closure.
    ///
    /// - Parameter body: The closure; its task is cancelled with the caller's, and may go on then.
    /// - Returns: The value.
    /// - Throws: The closure's error, or `CancellationError` as soon as the caller's task is cancelled.
    static func value(of body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let wait = Self()
        let work = Task {
            do { wait.end(.success(try await body())) } catch { wait.end(.failure(error)) }
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait.begin($0) }
        } onCancel: {
            work.cancel()
            wait.end(.failure(CancellationError()))
        }
    }

    private func begin(_ continuation: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            guard case .ended(let result) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .resumed
            return result
        }
        if let result { continuation.resume(with: result) }
    }

    /// Ends the wait; only the first call has an effect.
    private func end(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .created:
                state = .ended(result)
                return nil
            case .waiting(let continuation):
                state = .resumed
                return continuation
            case .ended, .resumed: return nil
            }
        }
        continuation?.resume(with: result)
    }
}
