import NetwatchCore
package import ReachabilityCore

/// The part of the page about the machine, besides its events.
package struct PageNetwork: Sendable {
    /// The machine's name.
    let machine: String
    /// The version of the service.
    let version: String
    /// The interfaces, in the order in which they are shown.
    let interfaces: [InterfaceRow]
    /// Why there is no path, or what is wrong with it; the first sentence is the one to show.
    let why: [Sentence]

    /// Creates a description without interfaces, as when the monitor does not reply.
    package init(machine: String, version: String) {
        (self.machine, self.version, interfaces, why) = (machine, version, [], [])
    }

    /// Creates a description of a machine.
    ///
    /// - Parameters:
    ///   - machine: Its name.
    ///   - version: The version of the service.
    ///   - snapshot: The model of its network.
    ///   - evaluation: The evaluation of that model.
    ///   - context: The context of the evaluation.
    ///   - instant: The time of the evaluation.
    package init(
        machine: String,
        version: String,
        snapshot: NetworkSnapshot,
        evaluation: PathEvaluation,
        context: EvaluationContext,
        at instant: Instant
    ) {
        (self.machine, self.version) = (machine, version)
        let words = PathWords(glyphs: .init(isASCII: false))
        interfaces = InterfaceRows(snapshot: snapshot, path: evaluation.path, context: context, words: words).rows()
        let explanation = PathExplanation(of: evaluation, in: snapshot, context: context, at: instant)
        why = WhySentence.of(explanation, snapshot: snapshot, evaluation: evaluation)
    }
}
