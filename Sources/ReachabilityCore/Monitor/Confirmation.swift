/// Holds one family's verdict against the kernel's own answers, and says whose word counts.
///
/// An answer may differ from the model for three reasons, which are told apart in turn: a change is on its way and its
/// message not yet read; the kernel changed something silently, so that reading again cures it; or the kernel decides
/// by something that the model does not hold, so that its answers count until they agree again.
struct Confirmation: Sendable, Hashable {
    /// Whose word counts now.
    private(set) var basis = Basis.kernel
    /// The kernel's last answers.
    private(set) var answers: [ProbeAnswer] = []
    private var stage = Stage.agreed
    private var refuted: Disagreement?

    /// Whose word can count.
    enum Basis: Sendable, Hashable {
        /// The evaluation of the model.
        case model
        /// The kernel's look-ups.
        case kernel
    }

    /// What is to be done about the answers.
    enum Step: Sendable, Hashable {
        /// Nothing: they agree, or the kernel's word counts.
        case none
        /// Ask again, in detail, once all messages have been read.
        case askAgain
        /// Ask again a little later.
        case askLater(Duration)
        /// Read again what leads to the tables of routes: little, however large those are.
        case readContext
        /// Read the tables that both name again.
        case readTables
        /// Read everything again.
        case readAll
    }

    private enum Stage: Sendable, Hashable {
        case agreed
        case askedAgain
        case askedLater(Duration)
        case readContext
        case readTables
        case readAll
    }

    private struct Disagreement: Sendable, Hashable {
        var model: [LookupOutcome]
        var kernel: [LookupOutcome]
    }

    /// How long a message may take from the change that the kernel made to the socket.
    private static let delivery = Duration.milliseconds(1)
    /// How long, in the last of several pauses, a change may take that the kernel has announced and not made: whoever
    /// makes it may have to wait for a processor.
    private static let patience = Duration.milliseconds(64)

    /// Lets the kernel's word count until it agrees with the model: the model is, or may be, incomplete.
    mutating func distrustModel() { basis = .kernel }

    /// Lets the model's word count without asking: a recording is replayed, and the kernel that made it is gone.
    mutating func trustModel() { basis = .model }

    /// Whether the kernel's answers come from routes more specific than the model mirrors.
    var isCoveredBySpecificRoute: Bool { answers.contains(where: \.isCoveredBySpecificRoute) }

    /// Whether the answers are waited for, or tables are read because of them.
    var isPending: Bool { stage != .agreed }

    /// Keeps answers to which the model has nothing to say yet.
    mutating func take(_ new: [ProbeAnswer]) { answers = new }

    /// Holds the model's outcomes against the kernel's answers.
    ///
    /// - Parameters:
    ///   - model: What the model says.
    ///   - new: What the kernel says.
    ///   - isPassing: Whether the answers can't last, as the kernel is about to make a change that it has announced.
    /// - Returns: What is to be done about it.
    mutating func compare(_ model: [LookupOutcome], with new: [ProbeAnswer], isPassing: Bool = false) -> Step {
        answers = new
        if zip(model, new).allSatisfy({ $0.agrees(with: $1) }) { return agree() }
        if isExplained(model) { return letKernelDecide() }
        let disagreement = Disagreement(model: model, kernel: new.map(\.outcome))
        if disagreement == refuted { return letKernelDecide() }
        return advance(disagreement, isPassing)
    }

    /// Whether every probe that differs is covered by a route that the model does not mirror.
    private func isExplained(_ model: [LookupOutcome]) -> Bool {
        zip(model, answers).allSatisfy { $0.agrees(with: $1) || $1.isCoveredBySpecificRoute }
    }

    private mutating func agree() -> Step {
        basis = .model
        stage = .agreed
        refuted = nil
        return .none
    }

    private mutating func letKernelDecide() -> Step {
        basis = .kernel
        stage = .agreed
        return .none
    }

    private mutating func advance(_ disagreement: Disagreement, _ isPassing: Bool) -> Step {
        switch stage {
        case .agreed:
            stage = .askedAgain
            return .askAgain
        case .askedAgain:
            return askLater(Self.delivery)
        case .askedLater(let pause) where isPassing && pause < Self.patience:
            return askLater(pause * 2)
        case .askedLater:
            stage = .readContext
            return .readContext
        case .readContext:
            stage = .readTables
            return .readTables
        case .readTables:
            stage = .readAll
            return .readAll
        case .readAll:
            refuted = disagreement
            return letKernelDecide()
        }
    }

    private mutating func askLater(_ pause: Duration) -> Step {
        stage = .askedLater(pause)
        return .askLater(pause)
    }
}

extension LookupOutcome {
    /// Whether the kernel's answer is what the model says; of an answer that is not the last word, as far as it goes.
    func agrees(with answer: ProbeAnswer) -> Bool {
        if let source = answer.connectedSource { return canLeave(from: source) }
        guard !answer.isFinal, case .refused = self, case .refused = answer.outcome else {
            return agrees(with: answer.outcome)
        }
        return true
    }

    private func canLeave(from source: IPAddress) -> Bool {
        guard case .selected(let selection) = self else { return false }
        return selection.leg.source == source || selection.alternatives.contains { $0.source == source }
    }

    /// Whether the kernel's answer is what the model says: the same route, one of its next hops, or the same errno.
    ///
    /// The metric is not compared, as the kernel's answer does not tell it; nor are the reasons, which are the model's.
    func agrees(with answer: Self) -> Bool {
        switch (self, answer) {
        case (.selected(let model), .selected(let kernel)): model.type == kernel.type && model.includes(kernel)
        case (.refused(let model, _), .refused(let kernel, _)): model == kernel
        case (.selected(let model), .refused(let kernel, _)): model.refusals.contains(kernel)
        case (.refused, .selected): false
        }
    }
}

extension RouteSelection {
    /// Whether a kernel's answer is one of the next hops that may be chosen.
    ///
    /// Its source may be that of another next hop of the same route: before Linux 6.16 the lookup with the source that
    /// the first lookup selected chooses again among all.
    fileprivate func includes(_ answer: Self) -> Bool {
        let legs = [leg] + alternatives + unpreferred
        let candidates = legs.filter { ($0.table ?? table) == answer.table }
        return candidates.contains { $0.source == answer.leg.source }
            && candidates.contains { $0.interface == answer.leg.interface && $0.gateway == answer.leg.gateway }
    }
}
