/// The evaluation of the model, kept for each address family until something it depends on changes.
///
/// Most messages are about one family. Evaluating the other again would give the same result, at the cost of half the
/// time between the kernel's message and the published change.
struct EvaluationCache: Sendable {
    /// The evaluator of the model.
    let evaluator: PathEvaluator
    /// The last evaluation, which may be out of date.
    private(set) var last: PathEvaluation?
    /// When a family was last evaluated.
    private(set) var evaluated = Instant(nanoseconds: .min)
    private var staleIPv4 = true
    private var staleIPv6 = true

    init(_ evaluator: PathEvaluator) { self.evaluator = evaluator }

    /// Records that the model changed.
    ///
    /// - Parameter family: The only family whose routes, rules, addresses or settings changed; nil for both.
    mutating func invalidate(_ family: AddressFamily? = nil) {
        if family != .ipv6 { staleIPv4 = true }
        if family != .ipv4 { staleIPv6 = true }
    }

    /// Returns the evaluation, evaluating again what is out of date.
    mutating func evaluation(of snapshot: NetworkSnapshot, at now: Instant) -> PathEvaluation {
        if let last, !staleIPv4, !staleIPv6 { return last }
        let evaluation: PathEvaluation
        if let last, !staleIPv4, last.ipv4.isIndependent {
            evaluation = evaluator.evaluate(.ipv6, of: snapshot, keepingOther: last, at: now)
        } else if let last, !staleIPv6, last.ipv6.isIndependent {
            evaluation = evaluator.evaluate(.ipv4, of: snapshot, keepingOther: last, at: now)
        } else {
            evaluation = evaluator.evaluate(snapshot, at: now)
        }
        (last, evaluated) = (evaluation, now)
        (staleIPv4, staleIPv6) = (false, false)
        return evaluation
    }
}

extension FamilyEvaluation {
    /// Whether the evaluation read nothing of the other family and no clock: a tunnel's carrier may be of the other.
    fileprivate var isIndependent: Bool { nextExpiry == nil && tunnels.isEmpty }
}
