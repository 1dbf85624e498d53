import Locking
import NetworkClient

/// One caller's part in a load.
public final class LoadReceipt: Sendable {
    private let leave: @Sendable () -> Void

    init(_ leave: @escaping @Sendable () -> Void) { self.leave = leave }

    /// Cancels the call; no effect if it has ended.
    ///
    /// Its closure is called with `cancelled`. Other callers of the same load are still served.
    public func cancel() { leave() }
}

/// A call that a task waits for.
final class LoadCall<Value: Sendable>: Sendable {
    typealias Continuation = CheckedContinuation<Result<Value, HTTPError>, Never>

    private struct State {
        var continuation: Continuation?
        var receipt: LoadReceipt?
        var isCancelled = false
    }

    private let state = Lock(State())

    /// Starts the call, and resumes the task with its result.
    func begin(_ continuation: Continuation, _ start: () -> LoadReceipt) {
        state.withLock { $0.continuation = continuation }
        let receipt = start()
        let isCancelled = state.withLock { state in
            state.receipt = receipt
            return state.isCancelled
        }
        if isCancelled { receipt.cancel() }
    }

    /// Ends the call.
    func end(_ result: Result<Value, HTTPError>) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    /// Cancels the call, from any thread.
    func cancel() {
        let receipt = state.withLock { state in
            state.isCancelled = true
            return state.receipt
        }
        receipt?.cancel()
    }
}
