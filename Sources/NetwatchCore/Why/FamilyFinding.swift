import ReachabilityCore

/// What keeps one family from having a path, where its rules or routes tell.
struct FamilyFinding {
    /// How much it explains; what is lowest comes first.
    enum Weight: Int, Comparable {
        /// Another way would work, if something were not before it.
        case hidesAnother
        /// Something refuses.
        case refuses
        /// The way out can't carry.
        case link
        /// There is no source.
        case source
        /// There was a way.
        case expired
        /// There is a way for a part.
        case partial

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much it explains.
    let weight: Weight
    /// What to tell.
    let sentence: Sentence

    init(_ weight: Weight, _ sentence: Sentence) {
        self.weight = weight
        self.sentence = sentence
    }

    /// The finding on a family without path; nil if it has no route that could tell anything.
    static func of(_ family: FamilyExplanation, _ scene: WhyScene) -> Self? {
        guard let probe = failed(family) else { return nil }
        let review = RouteReview(family: family, probe: probe, scene: scene)
        return review.dead ?? review.refusal ?? review.unusable ?? review.absent
    }

    /// The probe that shows best what is wrong: one that is refused, else one whose way can't be used.
    private static func failed(_ family: FamilyExplanation) -> ProbeExplanation? {
        family.probes.first { if case .refused = $0.outcome { true } else { false } }
            ?? family.probes.first { !($0.decision?.chosen.contains(where: \.isUsable) ?? false) }
            ?? family.probes.first
    }
}

/// Where a walk through the rules ended.
struct Decision {
    /// The rule that decided.
    let step: RuleStep
    /// The routes that its table's answer may be; none if the rule refused by itself.
    var chosen: [RouteCandidate] { step.candidates.filter { $0.verdict == .chosen } }
}

extension ProbeExplanation {
    /// What decided the last look-up; nil if no rule's table had an answer.
    var decision: Decision? {
        for step in lookups.last?.steps ?? [] {
            switch step.result {
            case .answers, .refuses: return .init(step: step)
            default: continue
            }
        }
        return nil
    }

    /// All routes that any look-up met.
    var candidates: [RouteCandidate] { lookups.flatMap(\.steps).flatMap(\.candidates) }
}
