import ReachabilityCore

/// What is remembered of the states that came by while something waited, or a command ran.
struct ConnectivityRecord: Hashable {
    /// What is waited for.
    let condition: StateArgument
    /// Whether it holds now.
    private(set) var holds = false
    /// Whether it did not hold at some time since ``forgetAbsence()``; not to know is not to be away.
    private(set) var wasAway = false

    init(_ condition: StateArgument) { self.condition = condition }

    /// Takes the state as it is now.
    mutating func note(_ status: ReachabilityStatus) {
        holds = condition.holds(for: status)
        if !holds, status != .unknown { wasAway = true }
    }

    /// Begins a new time to watch, as when a command starts.
    mutating func forgetAbsence() {
        wasAway = false
    }
}
