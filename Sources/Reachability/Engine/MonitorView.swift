public import ReachabilityCore

/// What a monitor knows at one moment: for explanations, not for programs that only want to know the state.
public struct MonitorView: Sendable, Hashable {
    /// The model of the machine's network.
    public var snapshot: NetworkSnapshot
    /// The verdict, and how it came about.
    public var evaluation: PathEvaluation
    /// The moment of the evaluation.
    public var instant: Instant
    /// Whether the whole model was read and agrees with the kernel's own look-ups.
    public var isSettled: Bool

    /// Makes a view.
    public init(snapshot: NetworkSnapshot, evaluation: PathEvaluation, instant: Instant, isSettled: Bool) {
        self.snapshot = snapshot
        self.evaluation = evaluation
        self.instant = instant
        self.isSettled = isSettled
    }
}
