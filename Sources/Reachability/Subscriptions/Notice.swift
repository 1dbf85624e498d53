import ReachabilityCore

/// What subscribers are told: a value that can stand as the first that one of them hears.
protocol Notice: Sendable {
    /// The same notice as a baseline: what is so now, without what was before.
    var asBaseline: Self { get }
}

extension StateChange: Notice {
    /// The state that this notice left behind, for a subscriber who did not hear what came before it.
    ///
    /// Why a state is `unknown` stays said; what caused another one is no news to who hears of it for the first time.
    var asBaseline: Self {
        guard event != .state || previous != nil else { return self }
        var baseline = self
        baseline.event = .state
        baseline.previous = nil
        if status != .unknown { baseline.reasons = [.initial] }
        return baseline
    }
}

extension DestinationPath: Notice {
    /// A path says nothing of what was before.
    var asBaseline: Self { self }
}

extension HostPath: Notice {
    /// Paths say nothing of what was before.
    var asBaseline: Self { self }
}
