extension MonitorStateMachine {
    /// Takes the kernel's answers to a ``MonitorAction/lookUp(inDetail:)``.
    ///
    /// Hand over first what the sockets have received meanwhile: then a message that was on its way when the kernel was
    /// asked is not taken for a silent change.
    public mutating func answered(_ answers: ProbeAnswers, at now: Instant) {
        guard connection.isUp else { return }
        hasNewAnswers = true
        guard reading.isDone else {
            if needsAnswers { isDirty = true }
            ipv4.take(answers.ipv4)
            ipv6.take(answers.ipv6)
            return
        }
        counters.confirms += 1
        // What is postponed hardly alters the outcomes; if it does, they differ now, and are compared again.
        let model = (isDirty ? nil : modelVerdict.last) ?? evaluateModel(at: now)
        for family in AddressFamily.allCases {
            let before = confirmation(family).basis
            let (ours, theirs) = (model.of(family).outcomes, answers.of(family))
            let isPassing = theirs.contains(where: isPassing)
            let step = alter(family) { $0.compare(ours, with: theirs, isPassing: isPassing) }
            if confirmation(family).basis == .kernel || before == .kernel { isDirty = true }
            take(step, family, model.of(family).outcomes, at: now)
        }
        if undecidedSince != nil { isDirty = true }
        needsProof = false
        connection.prove()
        if reading.isDone { isResyncing = false }
    }

    /// Whether the kernel names an interface that it has announced to be down, or a source that it has announced to be
    /// gone.
    ///
    /// It removes the routes after it has said so (`__dev_notify_flags`, `__inet_del_ifa`), and may be interrupted in
    /// between.
    private func isPassing(_ answer: ProbeAnswer) -> Bool {
        guard case .selected(let selection) = answer.outcome,
            let position = snapshot.linkPosition(selection.nextHop.interface)
        else { return false }
        guard snapshot.links[position].flags.contains(.up) else { return true }
        guard let source = selection.nextHop.source else { return false }
        return !snapshot.addresses.values.contains { $0.contains { $0.address == source } }
    }

    /// The question that is due, if one is: whether to ask in detail.
    mutating func question(at now: Instant) -> Bool? {
        guard confirms, reading.hasGroundwork else { return nil }
        let isNeeded = isDirty && needsAnswers && !hasCurrentAnswers
        guard reading.isDone || isNeeded else {
            questions.cancel()
            return nil
        }
        guard let inDetail = questions.take(at: now, isNeeded: isNeeded) else { return nil }
        // True until a message or a reading changes the model, even if that happens before the answers are here.
        hasCurrentAnswers = true
        return inDetail || needsAnswers
    }

    /// Plans to hold the verdict against the kernel: at once if it was published.
    mutating func planConfirmation(ofChange isChange: Bool, isImportant: Bool = true, at now: Instant) {
        guard confirms, !hasCurrentAnswers else { return }
        if isChange {
            questions.ask(at: now, inDetail: false)
        } else {
            questions.askAtLeisure(at: now, isImportant: isImportant)
        }
    }

    /// One family's confirmation.
    func confirmation(_ family: AddressFamily) -> Confirmation { family == .ipv4 ? ipv4 : ipv6 }

    /// Alters one family's confirmation.
    @discardableResult
    mutating func alter<Result>(
        _ family: AddressFamily,
        _ body: (inout Confirmation) -> Result
    ) -> Result {
        switch family {
        case .ipv4: body(&ipv4)
        case .ipv6: body(&ipv6)
        }
    }

    private mutating func take(
        _ step: Confirmation.Step,
        _ family: AddressFamily,
        _ model: [LookupOutcome],
        at now: Instant
    ) {
        switch step {
        case .none: break
        case .askAgain: questions.ask(at: now, inDetail: true)
        case .askLater(let pause): questions.askLater(at: now.advanced(by: pause))
        case .readContext:
            counters.mismatches += 1
            correct(family)
            reading.request([.addresses(family), .rules(family), .nexthops], .loss)
        case .readTables:
            correct(family)
            reading.request(tables(family, model), .loss)
        case .readAll:
            correct(family)
            reading.request(ReadingSchedule.everything, .loss)
        }
    }

    /// Lets the kernel's word be published at once; the tables are read after.
    private mutating func correct(_ family: AddressFamily) {
        alter(family) { $0.distrustModel() }
        publisher.note([.confirmMismatch])
        isDirty = true
    }

    /// The tables that either the model or the kernel names; all if neither names one.
    private func tables(_ family: AddressFamily, _ model: [LookupOutcome]) -> [DumpSubject] {
        let answers = confirmation(family).answers
        var tables: [RouteTableID] = []
        for outcome in model + answers.map(\.outcome) {
            guard case .selected(let selection) = outcome, !tables.contains(selection.table) else { continue }
            tables.append(selection.table)
        }
        guard !tables.isEmpty else { return ReadingSchedule.everything }
        return tables.map { .routes(family, table: $0) }
    }
}
