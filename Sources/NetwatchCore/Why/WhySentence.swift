package import ReachabilityCore

/// Says in the fewest true words why a machine is not reachable, or what is wrong with it although it is.
package enum WhySentence {
    /// The sentences, of which the first is the one to show; none where nothing is wrong.
    ///
    /// - Parameters:
    ///   - explanation: Why the state is what it is.
    ///   - snapshot: The model from which that was made.
    ///   - evaluation: The evaluation that it explains.
    /// - Returns: What is nearest to the fix first; each once.
    package static func of(
        _ explanation: PathExplanation,
        snapshot: NetworkSnapshot,
        evaluation: PathEvaluation
    ) -> [Sentence] {
        let scene = DiagnosisContext(explanation: explanation, snapshot: snapshot)
        var sentences: [Sentence] =
            switch evaluation.path.status {
            case .unknown: unknown(evaluation.path, scene)
            case .notReachable: absence(scene)
            case .wifi, .cellular: degradations(evaluation.path, scene)
            }
        var seen: Set<String> = []
        sentences.removeAll { !seen.insert($0.text).inserted }
        return sentences
    }

    /// Why there is no diagnosis.
    private static func unknown(_ path: NetworkPath, _ scene: DiagnosisContext) -> [Sentence] {
        path.reasons.prefix(1).map { reason in
            guard reason == .carrierUnknown, let interface = path.interface else {
                return .init(reason.shortMeaning, fix: reason.fix?.filled(nil))
            }
            let name = interface.name.escapedForTerminal
            let fix = "'--kind \(name.shellWord)=cellular', if it is"
            return .init("the carrier of the tunnel \(name) is unknown", fix: fix)
        }
    }

    /// Why neither family has a path.
    private static func absence(_ scene: DiagnosisContext) -> [Sentence] {
        let findings = scene.explanation.families.compactMap { FamilyFinding.of($0, scene) }.sorted {
            $0.weight < $1.weight
        }
        guard findings.isEmpty else { return findings.map(\.sentence) }
        return UplinkSurvey(scene: scene).sentences
    }

    /// Returns the sentences about degradations of a machine that has a path.
    private static func degradations(_ path: NetworkPath, _ scene: DiagnosisContext) -> [Sentence] {
        scene.explanation.families.flatMap { family -> [Sentence] in
            if family.path != nil { return FamilyDegradation.of(family, scene) }
            guard let finding = FamilyFinding.of(family, scene) else { return [] }
            let name = DiagnosisContext.name(family.family)
            return [.init("\(name) does not work: \(finding.sentence.text)", fix: finding.sentence.fix)]
        }
    }
}

extension ReachabilityReason {
    /// The meaning without its full stop, as a part of a line.
    fileprivate var shortMeaning: String {
        let sentence = meaning.split(separator: ". ").first.map(String.init) ?? meaning
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}

/// The data that sentences are made of, with their words.
struct DiagnosisContext {
    /// Why the state is what it is.
    let explanation: PathExplanation
    /// The model from which that was made.
    let snapshot: NetworkSnapshot

    /// The name of an interface.
    func name(_ index: InterfaceIndex) -> String { InterfaceNames(snapshot: snapshot).name(index) }

    /// Returns the kind of an interface.
    func kind(_ index: InterfaceIndex) -> InterfaceKind { explanation.interfaces[index]?.kind ?? .other }

    /// `eth0`, `eth0 and eth1`, `eth0, eth1 and 3 more`.
    func names(_ indexes: [InterfaceIndex]) -> String {
        let names = indexes.map(name)
        switch names.count {
        case 0...1: return names.joined()
        case 2...3: return names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
        default: return names.prefix(2).joined(separator: ", ") + " and \(names.count - 2) more"
        }
    }

    /// `ip` or `ip -6`.
    static func ip(_ family: AddressFamily) -> String { family == .ipv4 ? "ip" : "ip -6" }

    /// `IPv4` or `IPv6`.
    static func name(_ family: AddressFamily) -> String { family == .ipv4 ? "IPv4" : "IPv6" }
}

/// A true sentence about the network, and what to do about it.
///
/// Nothing in it is obeyed by a terminal. It begins as it would within a line, and has no full stop.
package struct Sentence: Sendable, Hashable {
    /// The sentence: `eth0 has no carrier`.
    package var text: String
    /// The fix, with commands in quotation marks; nil if there is none or none is needed.
    package var fix: String?

    /// Creates a sentence.
    package init(_ text: String, fix: String? = nil) {
        self.text = text
        self.fix = fix
    }
}
