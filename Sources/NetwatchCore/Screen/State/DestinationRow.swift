import ReachabilityCore

/// One host as its row shows it.
struct DestinationRow: Sendable, Hashable {
    /// As it was written.
    let host: String
    /// Its state.
    private(set) var state = DestinationState.resolving
    /// Since when its status is what it is.
    private(set) var since: Instant
    private(set) var sinceTime: LocalTime

    init(_ host: String, _ clock: ViewClock) {
        self.host = host
        since = clock.elapsed
        sinceTime = .init(clock.now)
    }

    /// Takes a new state.
    ///
    /// - Returns: Whether its status changed.
    mutating func take(_ new: DestinationState, _ clock: ViewClock) -> Bool {
        let before = (status, isWaiting)
        state = new
        guard before != (status, isWaiting) else { return false }
        (since, sinceTime) = (clock.elapsed, .init(clock.now))
        return true
    }

    /// The state of the best path.
    var status: ReachabilityStatus {
        switch state {
        case .resolving: .unknown
        case .failed: .notReachable
        case .paths: best?.status ?? .unknown
        }
    }

    /// The first address that is reached; the first, if none is.
    var best: DestinationRoute? {
        guard case .paths(let routes) = state else { return nil }
        return routes.first(where: \.status.isReachable) ?? routes.first
    }

    /// How many addresses there are, and how many of them are reached.
    var counts: (all: Int, reached: Int) {
        guard case .paths(let routes) = state else { return (0, 0) }
        return (routes.count, routes.count(where: \.status.isReachable))
    }

    /// Whether nothing was answered yet.
    var isWaiting: Bool { state == .resolving }
}
