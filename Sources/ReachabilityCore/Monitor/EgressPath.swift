extension ProbeResults {
    /// The interfaces through which the kernel's routes lead, each once.
    package var egressInterfaces: [InterfaceIndex] {
        var interfaces: [InterfaceIndex] = []
        for answer in ipv4 + ipv6 {
            guard case .selected(let selection) = answer.outcome else { continue }
            if !interfaces.contains(selection.nextHop.interface) { interfaces.append(selection.nextHop.interface) }
        }
        return interfaces
    }
}

extension PathEvaluator {
    /// Returns the path that the kernel's answers describe, if the interfaces that they name suffice to evaluate it.
    ///
    /// Most paths lead through an interface that carries its packets alone. Its link, its addresses and its device then
    /// decide, however many other interfaces the machine has.
    ///
    /// - Parameters:
    ///   - answers: The kernel's answers, in detail.
    ///   - egress: A model that holds the ``ProbeResults/egressInterfaces`` only.
    ///   - now: The moment of the evaluation.
    /// - Returns: The path; nil if there is none, or if more has to be read: the links below a bridge or a tunnel, the
    ///   other next hops, or the interface that has the source.
    package func path(by answers: ProbeResults, egress: NetworkSnapshot, at now: Instant) -> NetworkPath? {
        var check = KernelCheck(isEnabled: true)
        var cache = EvaluationCache(self)
        check.keep(answers)
        let evaluation = check.evaluate(egress, &cache, at: now)
        guard evaluation.path.status.isReachable, check.isDecisive(evaluation, egress) else { return nil }
        let model = LookupModel(egress, at: now)
        let suffices = (answers.ipv4 + answers.ipv6).allSatisfy { isDescribed($0.outcome, model) }
        return suffices ? evaluation.path : nil
    }

    /// Whether nothing outside a model of the egress interfaces affects the evaluation of an outcome.
    private func isDescribed(_ outcome: LookupOutcome, _ model: LookupModel) -> Bool {
        guard case .selected(let selection) = outcome else { return true }
        let nextHop = selection.nextHop
        guard let link = model.snapshot.link(nextHop.interface),
            let interface = CarrierResolver.describe(nextHop.interface, model, context)
        else { return false }
        // A veth's lower interface is its peer, which carries nothing.
        guard link.kind == "veth" || interface.carriesAlone(model) else { return false }
        guard let source = nextHop.source, source.family == .ipv6 else { return true }
        return model.snapshot.addresses[nextHop.interface]?.contains { $0.address == source } ?? false
    }
}

extension Link {
    /// Whether the messages about it leave open what its device is.
    ///
    /// Virtual interfaces name their kind (`IFLA_INFO_KIND`).
    package var hasUnnamedKind: Bool { kind == nil && hardwareType != .loopback && flags.contains(.up) }
}
