import NetworkClientCore
import Synchronization

extension RequestHandle {
    /// Where a request is, as its user sees it.
    public enum State: UInt8, Sendable, Hashable, CaseIterable {
        /// It was not started.
        case ready
        /// It waits: for a path, for its next attempt, for a connection.
        case waiting
        /// It is on a connection.
        case running
        /// Its user has paused it.
        case paused
        /// It has ended, well or not.
        case finished
    }

    /// Where it is; a moment later it may be elsewhere.
    public var state: State { isFinished ? .finished : State(rawValue: noted.load(ordering: .relaxed)) ?? .ready }

    /// Lets other threads know where it is; called on the session's event loop when that has changed.
    func noteState() {
        let state: State =
            switch run.life.phase {
            case _ where run.isPaused: .paused
            case .ready: .ready
            case .waiting: .waiting
            case .running, .finished: .running
            }
        noted.store(state.rawValue, ordering: .relaxed)
    }
}
