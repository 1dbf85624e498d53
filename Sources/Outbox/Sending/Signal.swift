import Locking

/// A signal that wakes one waiting task; raised while none waits, it wakes the next.
final class Signal: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
        var turn = 0
    }

    private let state = Lock(State())

    /// Wakes the task.
    func raise() { wake(nil) }

    /// Waits for the signal, or for a time: at most one minute, so that the machine's clocks are looked at again.
    func wait(for delay: Duration?) async {
        let delay = min(delay ?? .seconds(60), .seconds(60))
        let (turn, isRaised) = state.withLock { state in
            state.turn += 1
            defer { state.isRaised = false }
            return (state.turn, state.isRaised)
        }
        if isRaised { return }
        let timer = Task { [weak self] in
            try await Task.sleep(for: delay)
            self?.wake(turn)
        }
        await withCheckedContinuation { continuation in
            let isRaised = state.withLock { state in
                defer { state.isRaised = false }
                if !state.isRaised { state.waiter = continuation }
                return state.isRaised
            }
            if isRaised { continuation.resume() }
        }
        timer.cancel()
    }

    /// Wakes the task; from a timer only in the turn that it belongs to.
    private func wake(_ turn: Int?) {
        let waiter = state.withLock { state in
            if let turn, turn != state.turn { return nil as CheckedContinuation<Void, Never>? }
            defer { state.waiter = nil }
            if state.waiter == nil { state.isRaised = true }
            return state.waiter
        }
        waiter?.resume()
    }
}
