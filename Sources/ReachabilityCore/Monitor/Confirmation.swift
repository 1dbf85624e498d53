/// Compares one family's evaluation with the kernel's own results, and decides which of the two is authoritative.
///
/// A result may differ from the model for three reasons, which are distinguished in turn: a change is on its way and its
/// message not yet read; the kernel changed something silently, so that reading its tables again resolves it; or the
/// kernel decides by something that the model does not contain, so that its results are used until they agree again.
struct Confirmation: Sendable, Hashable {
    /// Which of the two is authoritative.
    private(set) var basis = Basis.kernel
    /// The kernel's last results.
    private(set) var results: [ProbeResult] = []
    /// The last step; ``Step/none`` once the results agree, or the kernel has become authoritative.
    private var lastStep = Step.none
    private var refuted: Disagreement?

    /// The basis of an evaluation.
    enum Basis: Sendable, Hashable {
        /// The evaluation of the model.
        case model
        /// The kernel's lookups.
        case kernel
    }

    /// The next step after a comparison.
    enum Step: Sendable, Hashable {
        /// Nothing: the results agree, or the kernel is authoritative.
        case none
        /// Ask again, in detail, once all messages have been read.
        case askAgain
        /// Ask again after a delay.
        case askLater(Duration)
        /// Read again the tables with routes that should have expired: advertisements that refresh them are not announced.
        case readExpired
        /// Read again what leads to the routing tables: little, however large those are.
        case readContext
        /// Read again the tables that either of the two names.
        case readTables
        /// Read everything again.
        case readAll
    }

    private struct Disagreement: Sendable, Hashable {
        var model: [LookupOutcome]
        var kernel: [LookupOutcome]
    }

    /// Makes the kernel authoritative until it agrees with the model: the model is, or may be, incomplete.
    mutating func requireKernel() { basis = .kernel }

    /// Makes the model authoritative without a comparison: a replayed recording has no kernel to ask.
    mutating func acceptModel() { basis = .model }

    /// Whether the kernel's results come from routes more specific than the model mirrors.
    var isCoveredBySpecificRoute: Bool { results.contains(where: \.isCoveredBySpecificRoute) }

    /// Whether further results, or tables that are read because of them, are awaited.
    var isPending: Bool { lastStep != .none }

    /// Keeps results while there is no complete model to compare them with.
    mutating func take(_ new: [ProbeResult]) { results = new }

    /// Compares the model's outcomes with the kernel's results.
    ///
    /// - Parameters:
    ///   - model: The outcomes by the model.
    ///   - new: The kernel's results.
    ///   - isPassing: Whether the disagreement may end by itself, because the kernel may have made only one of a change
    ///     and its announcement.
    ///   - hasExpired: Whether the kernel uses a route that, by the model, has expired.
    /// - Returns: What to do next.
    mutating func compare(
        _ model: [LookupOutcome],
        with new: [ProbeResult],
        isPassing: @autoclosure () -> Bool,
        hasExpired: @autoclosure () -> Bool
    ) -> Step {
        results = new
        if zip(model, new).allSatisfy({ $0.agrees(with: $1) }) { return agree() }
        if isExplained(model) { return letKernelDecide() }
        let disagreement = Disagreement(model: model, kernel: new.map(\.outcome))
        if disagreement == refuted { return letKernelDecide() }
        return advance(disagreement, isPassing, hasExpired)
    }

    /// Whether every probe that differs is covered by a route that the model does not mirror.
    private func isExplained(_ model: [LookupOutcome]) -> Bool {
        zip(model, results).allSatisfy { $0.agrees(with: $1) || $1.isCoveredBySpecificRoute }
    }

    private mutating func agree() -> Step {
        basis = .model
        lastStep = .none
        refuted = nil
        return .none
    }

    private mutating func letKernelDecide() -> Step {
        basis = .kernel
        lastStep = .none
        return .none
    }

    private mutating func advance(
        _ disagreement: Disagreement,
        _ isPassing: () -> Bool,
        _ hasExpired: () -> Bool
    ) -> Step {
        switch lastStep {
        case .none: lastStep = .askAgain
        case .askAgain: lastStep = .askLater(Pacing.delivery)
        case .askLater(let pause) where pause < Pacing.announcement && isPassing(): lastStep = .askLater(pause * 2)
        case .askLater where hasExpired(): lastStep = .readExpired
        case .askLater, .readExpired: lastStep = .readContext
        case .readContext: lastStep = .readTables
        case .readTables: lastStep = .readAll
        case .readAll:
            refuted = disagreement
            return letKernelDecide()
        }
        return lastStep
    }
}

extension LookupOutcome {
    /// Returns whether the kernel's result agrees with the model's outcome; any two refusals agree if the result is not
    /// final.
    func agrees(with result: ProbeResult) -> Bool {
        if let source = result.connectedSource { return canLeave(from: source) }
        guard !result.isFinal, case .refused = self, case .refused = result.outcome else {
            return agrees(with: result.outcome)
        }
        return true
    }

    private func canLeave(from source: IPAddress) -> Bool {
        guard case .selected(let selection) = self else { return false }
        return selection.nextHop.source == source || selection.alternatives.contains { $0.source == source }
    }

    /// Returns whether the kernel's outcome is the model's: the same route, one of its next hops, or the same errno.
    ///
    /// The metric is not compared, because the kernel's reply lacks it; nor are the reasons, which only the model has.
    func agrees(with kernel: Self) -> Bool {
        switch (self, kernel) {
        case (.selected(let model), .selected(let kernel)): model.type == kernel.type && model.includes(kernel)
        case (.refused(let model, _), .refused(let kernel, _)): model == kernel
        case (.selected(let model), .refused(let kernel, _)): model.refusals.contains(kernel)
        case (.refused, .selected): false
        }
    }
}

extension RouteSelection {
    /// Whether the kernel's selection is one of the next hops that may be chosen.
    ///
    /// Its source may be that of another next hop of the same route: before Linux 6.16 the lookup with the source that
    /// the first lookup selected chooses again among all.
    fileprivate func includes(_ kernel: Self) -> Bool {
        let nextHops = [nextHop] + alternatives + unpreferred
        let candidates = nextHops.filter { ($0.table ?? table) == kernel.table }
        return candidates.contains { $0.source == kernel.nextHop.source }
            && candidates.contains { $0.interface == kernel.nextHop.interface && $0.gateway == kernel.nextHop.gateway }
    }
}

/// The kernel's own results for every probe address, in the order of ``ProbeAddresses``.
package struct ProbeResults: Sendable, Hashable {
    /// For the IPv4 probe addresses.
    package var ipv4: [ProbeResult]
    /// For the IPv6 probe addresses.
    package var ipv6: [ProbeResult]

    /// Makes the results.
    package init(ipv4: [ProbeResult], ipv6: [ProbeResult]) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }

    /// The results of a family.
    package func of(_ family: AddressFamily) -> [ProbeResult] { family == .ipv4 ? ipv4 : ipv6 }
}

/// The kernel's own result for one probe address: that of the last lookup which connect(2) would make.
package struct ProbeResult: Sendable, Hashable {
    /// The outcome.
    package var outcome: LookupOutcome
    /// The prefix of the route that was selected; nil if it was not asked for (`RTM_F_FIB_MATCH`), or if there is none.
    package var matched: IPPrefix?
    /// Whether that route, or the one that selected the source, has several next hops, of which the reply names one.
    package var isMultipath: Bool
    /// Whether connect(2) would make no further lookup; if not, a refusal is not final.
    package var isFinal: Bool
    /// The source with which a socket connects although the lookup is refused; nil if the two agree.
    ///
    /// Of IPv6 routes that share a nexthop object the kernel remembers for each processor which one packets used last,
    /// also once that is gone: then `RTM_GETROUTE` is refused (`inet6_rtm_getroute`), but packets are sent.
    package var connectedSource: IPAddress?

    /// Makes a result.
    package init(
        _ outcome: LookupOutcome,
        matched: IPPrefix? = nil,
        isMultipath: Bool = false,
        isFinal: Bool = true,
        connectedSource: IPAddress? = nil
    ) {
        self.outcome = outcome
        self.matched = matched
        self.isMultipath = isMultipath
        self.isFinal = isFinal
        self.connectedSource = connectedSource
    }

    /// Returns the outcome; if the kernel refuses the lookup of a socket that connects, the model's if that has its
    /// source.
    ///
    /// - Parameters:
    ///   - flow: The flow that was looked up.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the result.
    /// - Returns: The route, or the refusal.
    package func outcome(of flow: ProbeFlow, in snapshot: NetworkSnapshot, at now: Instant) -> LookupOutcome {
        guard connectedSource != nil else { return outcome }
        let model = RouteLookup.connect(flow, in: snapshot, at: now)
        return model.agrees(with: self) ? model : outcome
    }

    /// Whether the route is one that the model does not mirror.
    ///
    /// Then the model, which holds the default-like routes alone, cannot predict what the kernel does with this probe.
    package var isCoveredBySpecificRoute: Bool {
        guard let matched else { return false }
        return matched.length > RouteMessage.longestDefaultLikePrefix
    }
}
