import ReachabilityCore

/// The reason why one family has no path, as its rules or routes show it.
struct FamilyFinding {
    /// How much it explains; what is lowest comes first.
    enum Weight: Comparable {
        /// A route would work, but another one is preferred to it.
        case hidesAnother
        /// Something refuses.
        case refuses
        /// The egress interface cannot carry packets.
        case link
        /// There is no source.
        case source
        /// There was a route.
        case expired
        /// There is a route for a part of the addresses.
        case partial
    }

    /// How much it explains.
    let weight: Weight
    /// The sentence.
    let sentence: Sentence

    init(_ weight: Weight, _ sentence: Sentence) {
        self.weight = weight
        self.sentence = sentence
    }

    init(_ weight: Weight, _ text: String, fix: String? = nil) { self.init(weight, .init(text, fix: fix)) }

    /// The finding on a family without path; nil if it has no route that could explain it.
    static func of(_ family: FamilyExplanation, _ scene: DiagnosisContext) -> Self? {
        guard let probe = failed(family) else { return nil }
        let review = RouteReview(family: family, probe: probe, scene: scene)
        return review.dead ?? review.refusal ?? review.unusable ?? review.absent
    }

    /// The probe that shows best what is wrong: one that is refused, else one whose path cannot be used.
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
    /// The routes that its table may select; none if the rule refused by itself.
    var chosen: [RouteCandidate] { step.candidates.filter { $0.verdict == .chosen } }
}

extension ProbeExplanation {
    /// The decision of the last lookup; nil if no rule's table had a route.
    var decision: Decision? {
        for step in lookups.last?.steps ?? [] {
            switch step.result {
            case .decides, .refuses: return .init(step: step)
            default: continue
            }
        }
        return nil
    }

    /// All routes that any lookup met.
    var candidates: [RouteCandidate] { lookups.flatMap(\.steps).flatMap(\.candidates) }
}

/// A degradation of a family that has a path.
enum FamilyDegradation {
    /// The sentences; none where nothing is known to be wrong.
    static func of(_ family: FamilyExplanation, _ scene: DiagnosisContext) -> [Sentence] {
        [deadNextHop(family, scene), silentGateway(family, scene)].compactMap(\.self)
    }

    private static func deadNextHop(_ family: FamilyExplanation, _ scene: DiagnosisContext) -> Sentence? {
        guard family.reasons.contains(.deadNextHop) else { return nil }
        let nextHops = family.probes.compactMap(\.decision).flatMap(\.chosen).flatMap(\.nextHops)
        guard let nextHop = nextHops.first(where: { $0.fate != .usable })?.nextHop else { return nil }
        let name = scene.name(nextHop.interface)
        let setting = SettingText.linkDown(name, family.family)
        return .init(
            "some connections fail: a next hop of the default route leads through \(name), which cannot carry packets",
            fix: "remove the next hop, or 'sysctl \(setting)=1' and add the route again"
        )
    }

    /// The kernel continues to send to a gateway that does not respond, so the state does not change.
    private static func silentGateway(_ family: FamilyExplanation, _ scene: DiagnosisContext) -> Sentence? {
        guard let path = family.path, let gateway = path.gateway,
            let state = scene.snapshot.neighbours[.init(index: path.interface.index, address: gateway)],
            state.contains(.failed)
        else { return nil }
        let name = scene.name(path.interface.index)
        return .init(
            "the gateway \(gateway) on \(name) does not respond",
            fix: "look at the router, and at the cables and switches in between"
        )
    }
}
