/// Decides what follows when a command has ended.
struct RunPolicy: Hashable {
    /// How often the command may still be run again.
    private(set) var retriesLeft: UInt

    /// Makes a policy.
    init(retries: UInt) { retriesLeft = retries }

    /// What follows.
    enum Step: Hashable {
        /// It is over, with the command's own code.
        case exit(ExitStatus)
        /// The network is waited for, and the command runs again.
        case again
    }

    /// Decides.
    ///
    /// | ended | network | told to end | retries left | follows |
    /// |---|---|---|---|---|
    /// | well | any | any | any | exit |
    /// | badly | there all the time | any | any | exit |
    /// | badly | away at some time | yes | any | exit |
    /// | badly | away at some time | no | none | exit |
    /// | badly | away at some time | no | some | again |
    ///
    /// - Parameters:
    ///   - outcome: How the command ended.
    ///   - wasAway: Whether the network was away at some time while it ran.
    ///   - wasToldToEnd: Whether a signal that ends programs came meanwhile: the user wants no further run.
    /// - Returns: What to do.
    mutating func next(after outcome: ChildProcess.Outcome, wasAway: Bool, wasToldToEnd: Bool) -> Step {
        guard outcome != .exited(0), wasAway, !wasToldToEnd, retriesLeft > 0 else { return .exit(outcome.exitStatus) }
        retriesLeft -= 1
        return .again
    }
}
