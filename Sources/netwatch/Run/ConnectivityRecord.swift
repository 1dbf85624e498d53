import ReachabilityCore

/// What is remembered of the states that came by while something waited, or a command ran.
struct ConnectivityRecord: Hashable {
    /// What is waited for.
    let awaited: WaitedPath
    /// What there is, once that is told.
    private(set) var path: NetworkPath?
    /// Whether it holds now.
    private(set) var holds = false
    /// Whether it did not hold at some time since ``forgetAbsence()``; not to know is not to be away.
    private(set) var wasAway = false

    init(_ awaited: WaitedPath) { self.awaited = awaited }

    /// Takes the state as it is now.
    mutating func note(_ path: NetworkPath) {
        self.path = path
        holds = awaited.holds(for: path)
        if !holds, path.status != .unknown { wasAway = true }
    }

    /// Begins a new time to watch, as when a command starts.
    mutating func forgetAbsence() {
        wasAway = false
    }
}
