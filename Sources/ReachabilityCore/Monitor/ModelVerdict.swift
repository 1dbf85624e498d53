/// The model's own evaluation, kept for each family until something changes that it reads.
///
/// Most messages are about one family; judging the other anew would give the same, at the price of half the time that
/// lies between the kernel's message and the notice.
struct ModelVerdict: Sendable, Hashable {
    /// What was found last; out of date if ``isCurrent`` is false.
    private(set) var last: PathEvaluation?
    /// When a family was judged last.
    private(set) var evaluated = Instant(nanoseconds: .min)
    private var staleIPv4 = true
    private var staleIPv6 = true

    /// Learns that the model changed.
    ///
    /// - Parameter family: The only family whose routes, rules, addresses or settings are concerned; nil for both.
    mutating func invalidate(_ family: AddressFamily? = nil) {
        if family != .ipv6 { staleIPv4 = true }
        if family != .ipv4 { staleIPv6 = true }
    }

    /// The evaluation, made anew as far as it is out of date.
    mutating func evaluation(
        _ snapshot: NetworkSnapshot,
        by evaluator: PathEvaluator,
        at now: Instant
    ) -> PathEvaluation {
        if let last, !staleIPv4, !staleIPv6 { return last }
        let evaluation: PathEvaluation
        if let last, !staleIPv4, last.ipv4.standsAlone {
            evaluation = evaluator.evaluate(.ipv6, of: snapshot, keepingOther: last, at: now)
        } else if let last, !staleIPv6, last.ipv6.standsAlone {
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
    /// Whether nothing of the other family, and no clock, was read for it: what carries a tunnel may be of the other.
    fileprivate var standsAlone: Bool { nextExpiry == nil && tunnels.isEmpty }
}
