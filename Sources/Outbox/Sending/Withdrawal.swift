import Locking
import OutboxCore

/// The choice between sending a request and withdrawing it while it waits for a path: never both at the same time.
final class Withdrawal: Sendable {
    private enum Choice { case open, sending, withdrawn }

    private struct State {
        var choice = Choice.open
        /// Whether it is withdrawn when its present attempt fails.
        var isRequested = false
        var mayBeProcessed: Bool?
        var firstSent: BoxTime?
    }

    private let state = Lock(State())

    /// Notes that the request is being sent.
    ///
    /// - Returns: Whether it may be: it was not withdrawn.
    func begin() -> Bool {
        state.withLock { state in
            if state.choice == .open { state.choice = .sending }
            return state.choice == .sending
        }
    }

    /// Notes that an attempt has failed, or was redirected, and will be repeated: the request waits, and may be withdrawn again.
    ///
    /// - Parameter mayBeProcessed: Whether the server may have processed it.
    /// - Returns: Whether it may be repeated: it was not withdrawn meanwhile.
    func suspend(mayBeProcessed: Bool) -> Bool {
        state.withLock { state in
            if state.choice == .sending { state.choice = state.isRequested ? .withdrawn : .open }
            state.mayBeProcessed = state.mayBeProcessed == true || mayBeProcessed
            return state.choice != .withdrawn
        }
    }

    /// Whether the request waits, and was not withdrawn.
    var isOpen: Bool { state.withLock { $0.choice == .open } }

    /// Whether the request was withdrawn.
    var isWithdrawn: Bool { state.withLock { $0.choice == .withdrawn } }

    /// Whether the server may have processed an attempt that has failed; nil if there was none.
    var mayBeProcessed: Bool? { state.withLock { $0.mayBeProcessed } }

    /// The stored time before the first attempt that may have been processed; nil before that is stored.
    var firstSent: BoxTime? {
        get { state.withLock { $0.firstSent } }
        set { state.withLock { $0.firstSent = newValue } }
    }

    /// Withdraws the request; one that is being sent, when its attempt has failed.
    ///
    /// - Returns: Whether it was not being sent, and is not sent.
    func withdraw() -> Bool {
        state.withLock { state in
            state.isRequested = true
            if state.choice == .open { state.choice = .withdrawn }
            return state.choice == .withdrawn
        }
    }
}
