import NetwatchCore
import Reachability
import ReachabilityCore

extension MonitorEngine {
    /// The state in words, with the reason for it: `the state is 'notReachable': eth0 has no carrier`.
    ///
    /// Blocks the caller until the model has settled, but for no longer than a tenth of a second.
    ///
    /// - Parameter context: The user's own rules.
    /// - Returns: The words; nothing in them is obeyed by a terminal.
    func stateWords(_ context: EvaluationContext) -> String {
        guard let view = try? view(within: .milliseconds(100)) else { return "the state is not known" }
        let path = view.evaluation.path
        let explanation = PathExplanation(of: view.evaluation, in: view.snapshot, context: context, at: view.instant)
        let why = WhySentence.of(explanation, snapshot: view.snapshot, evaluation: view.evaluation).first?.text
        let details = path.status.isReachable ? ChangeText.path(path) : why
        return ["the state is '\(path.status.name)'", details].compactMap(\.self).joined(separator: ": ")
    }
}
