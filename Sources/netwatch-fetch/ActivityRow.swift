import ReachabilityCore
import ResourceLoaderCore

/// An activity that a request waits for before bytes are transferred.
enum FetchActivity: String, Hashable, CaseIterable {
    case path = "waiting for a path"
    case connection = "waiting for a connection"
    case server = "waiting for the server"
    case retry = "waiting for the next attempt"
}

/// The row that says what a request waits for, once it has waited for a second.
struct ActivityRow: Hashable {
    private var state = ActivityState(startDelay: 1_000_000_000, endDelay: 0)

    /// Creates the row of a request that starts.
    init(at start: Instant) { state.begin(at: start.nanoseconds) }

    /// Returns the row; nil while it is not shown, or if it is wider than the terminal.
    mutating func text(_ activity: FetchActivity, width: Int, at now: Instant) -> String? {
        state.advance(to: now.nanoseconds)
        let text = activity.rawValue
        return state.isVisible && text.utf8.count < width ? text : nil
    }
}
