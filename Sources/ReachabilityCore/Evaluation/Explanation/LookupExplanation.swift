/// How the look-up of one probe address ended, and how it got there.
public struct ProbeExplanation: Sendable, Hashable {
    /// The address that is looked up, and never sent to.
    public var destination: IPAddress
    /// The final outcome.
    public var outcome: LookupOutcome
    /// The look-ups that connect(2) makes: one without a source, and one with a source if that ends another way.
    public var lookups: [LookupExplanation]
}

/// One walk through the rules.
public struct LookupExplanation: Sendable, Hashable {
    /// The source of the look-up; nil for none.
    public var source: IPAddress?
    /// What the walk answered.
    public var outcome: LookupOutcome
    /// The rules that match an unmarked and unbound socket of the user's, in the order of the walk.
    ///
    /// Those that the walk did not get to any more come last, if they lead to a table that was not consulted.
    public var steps: [RuleStep]
}

/// A rule that matched, and what came of it.
public struct RuleStep: Sendable, Hashable {
    /// The rule.
    public var rule: RuleMessage
    /// What came of it.
    public var result: Result
    /// The default-like routes of the table that it leads to, in the kernel's order.
    public var candidates: [RouteCandidate] = []

    /// What comes of a rule.
    public enum Result: Sendable, Hashable {
        /// Its table has the answer.
        case answers
        /// Its table has none, so that the walk goes on.
        case noAnswer
        /// Its table's answer is a prefix of no more bits than that, which the rule suppresses.
        case suppressedPrefix(Int32)
        /// Its table's answer leads through a group of interfaces that the rule suppresses.
        case suppressedGroup(UInt32)
        /// The source that its table's answer would be given does not fit the rule.
        case otherSource
        /// Its table refuses, which the kernel passes over as long as no rule was ever added.
        case refusalPassedOver
        /// It refuses by itself.
        case refuses(LookupOutcome)
        /// The walk goes on with the rule of a priority; nil if there is none behind it.
        case goesOn(UInt32?)
        /// Nothing.
        case nothing
        /// The walk ended, or jumped, before it.
        case notReached
    }
}
