import CommandLineSupport
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore

/// Explains the state of the machine: what each family's probes come to, and why.
enum ViewText {
    /// The lines; the first has state and path.
    ///
    /// - Parameters:
    ///   - view: What the monitor knows.
    ///   - context: The context of its evaluation.
    ///   - report: Whether the path leads to the internet; nil if validation is off.
    /// - Returns: The lines, without line feeds.
    static func lines(
        _ view: MonitorView,
        _ context: EvaluationContext,
        _ report: ValidationSummary? = nil
    ) -> [String] {
        let explanation = PathExplanation(of: view.evaluation, in: view.snapshot, context: context, at: view.instant)
        let path = view.evaluation.path
        let names = InterfaceNames(snapshot: view.snapshot)
        var lines = [path.status.name + ": " + ChangeText.path(path)]
        let verdict = report.flatMap { $0.isAbout(path) ? ValidationWords.sentence($0) : nil }
        let sentences = WhySentence.of(explanation, snapshot: view.snapshot, evaluation: view.evaluation)
        lines += why((verdict.map { [$0] } ?? []) + sentences, path.status)
        // What neither family has to say: that nothing could be read.
        let reasons = path.reasons.filter { path.status == .unknown || $0 == .carrierUnknown }
        lines += ReasonText.lines(reasons, interface: path.interface?.name, indentation: "  ")
        if !view.isSettled { lines.append("  the kernel's tables are changing: this may be out of date already") }
        let candidates = CandidateText(names: names)
        for part in explanation.families {
            lines += family(part.family, part.family == .ipv4 ? view.evaluation.ipv4 : view.evaluation.ipv6, names)
            lines += candidates.lines(part)
        }
        return lines + InterfaceText(explanation: explanation).lines + validation(report, of: path)
    }

    /// The verdict on the path, with what each endpoint in trouble has answered; none if validation is off.
    static func validation(_ report: ValidationSummary?, of path: NetworkPath) -> [String] {
        guard let report else { return [] }
        guard report.isAbout(path) else { return ["validation: not checked: there is no path, or it has just changed"] }
        let fix = ValidationWords.sentence(report)?.fix.map { ["  fix: \($0)"] } ?? []
        return ["validation: " + ValidationWords.line(report, path.status)] + fix
            + ValidationWords.trouble(report).map { "  " + $0 }
    }

    /// The sentences that tell most; the first is what there is to know.
    private static func why(_ sentences: [Sentence], _ status: ReachabilityStatus) -> [String] {
        sentences.prefix(3).enumerated().flatMap { position, sentence in
            let word = position > 0 ? "also" : status.isReachable ? "but" : "why"
            return ["  \(word): \(sentence.text)"] + (sentence.fix.map { ["    fix: \($0)"] } ?? [])
        }
    }

    private static func family(
        _ family: AddressFamily,
        _ evaluation: FamilyEvaluation,
        _ names: InterfaceNames
    ) -> [String] {
        let name = family == .ipv4 ? "ipv4" : "ipv6"
        var lines = ["\(name): " + (evaluation.path.map { "usable, \($0.status.name)" } ?? "not usable")]
        for (probe, outcome) in zip(ProbeAddresses.of(family), evaluation.outcomes) {
            lines.append("  to \(probe): " + outcomeText(outcome, names))
        }
        let interface = evaluation.path?.interface.name ?? preferred(evaluation.outcomes, names)
        return lines + ReasonText.lines(evaluation.reasons, interface: interface, indentation: "  ")
    }

    private static func outcomeText(_ outcome: LookupOutcome, _ names: InterfaceNames) -> String {
        switch outcome {
        case .selected(let selection): RouteText.selection(selection, names: names, isFromModel: true)
        case .refused(let errno, let reason): "\(SystemError(code: errno)) (\(reason.rawValue))"
        }
    }

    /// The interface that the kernel prefers although it cannot be used.
    private static func preferred(_ outcomes: [LookupOutcome], _ names: InterfaceNames) -> String? {
        for case .selected(let selection) in outcomes { return names.name(selection.nextHop.interface) }
        return nil
    }
}

extension ReachabilityMonitor {
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

/// Explains reasons, and what to do about them.
enum ReasonText {
    /// A line for each reason, and one for its fix.
    ///
    /// - Parameters:
    ///   - reasons: The reasons.
    ///   - interface: What stands for `NAME` in a fix, if that is known.
    ///   - indentation: What each line begins with.
    /// - Returns: The lines.
    static func lines(_ reasons: [ReachabilityReason], interface: String?, indentation: String) -> [String] {
        reasons.flatMap { reason in
            let meaning = "\(indentation)\(reason.rawValue): \(reason.meaning)"
            guard let fix = reason.fix?.filled(interface).escapedForTerminal else { return [meaning] }
            return [meaning, "\(indentation)  fix: \(fix)"]
        }
    }
}

/// Explains the kernel's route to one destination.
enum DestinationText {
    /// A few lines, the first of which names the destination and the state.
    static func lines(_ path: DestinationPath, names: InterfaceNames) -> [String] {
        var lines = ["\(path.destination): \(path.status.name)"]
        switch path.outcome {
        case .selected(let selection):
            lines.append("  the kernel's route: " + RouteText.selection(selection, names: names, isFromModel: false))
        case .refused(let errno, _): lines.append("  the kernel refuses: \(SystemError(code: errno))")
        }
        if let interface = path.interface, path.status.isReachable, path.carriers != [interface] {
            let carriers = path.carriers.map(ChangeText.named).joined(separator: " and ")
            lines.append(
                "  \(ChangeText.named(interface)) is carried by \(carriers.isEmpty ? "nothing known" : carriers)"
            )
        }
        return lines + ReasonText.lines(path.reasons, interface: path.interface?.name, indentation: "  ")
    }
}
