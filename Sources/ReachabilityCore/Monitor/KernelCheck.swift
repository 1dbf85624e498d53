/// The kernel's own lookups that confirm the model: when to make them, what their results mean, and which of the two is
/// authoritative for each address family.
struct KernelCheck: Sendable, Hashable {
    /// Whether there is a kernel to ask; not when a recording is replayed.
    let isEnabled: Bool
    private var ipv4 = Confirmation()
    private var ipv6 = Confirmation()
    private var schedule = LookupScheduler()
    /// Whether the results are as new as the model.
    private(set) var isCurrent = false
    /// Whether results have arrived since the last evaluation.
    private var hasNewResults = false
    /// Whether the model was read again, and not yet confirmed.
    private var isUnconfirmedDump = false

    /// The findings of a comparison with the kernel's results.
    struct Result: Sendable, Hashable {
        /// Whether the published path may depend on it.
        var affectsPath = false
        /// The number of families in which the kernel and the model start to disagree for no passing reason.
        var mismatches: UInt64 = 0
        /// Whether they disagree for no passing reason.
        var isMismatch = false
        /// The tables to read again.
        var dumps: [DumpSubject] = []
    }

    /// Makes a check.
    ///
    /// - Parameter isEnabled: Whether there is a kernel to ask; if not, the model is authoritative.
    init(isEnabled: Bool) {
        self.isEnabled = isEnabled
        guard !isEnabled else { return }
        ipv4.acceptModel()
        ipv6.acceptModel()
    }

    // MARK: Authority

    /// Whether the kernel is authoritative for a family.
    var dependsOnKernel: Bool { ipv4.basis == .kernel || ipv6.basis == .kernel }

    /// Whether further results are awaited.
    var isPending: Bool { ipv4.isPending || ipv6.isPending }

    /// Whether an evaluation can be made: by the model, or by results that are new.
    var allowsEvaluation: Bool { !dependsOnKernel || isCurrent || hasNewResults }

    /// Returns one family's confirmation.
    func confirmation(_ family: AddressFamily) -> Confirmation { family == .ipv4 ? ipv4 : ipv6 }

    /// Makes the kernel authoritative for a family: the model is, or may be, incomplete.
    mutating func requireKernel(_ family: AddressFamily) {
        if family == .ipv4 { ipv4.requireKernel() } else { ipv6.requireKernel() }
    }

    /// Evaluates each family by what is authoritative for it: the model, or the kernel's results received so far.
    mutating func evaluate(
        _ snapshot: NetworkSnapshot,
        _ cache: inout EvaluationCache,
        at now: Instant
    ) -> PathEvaluation {
        hasNewResults = false
        guard dependsOnKernel else { return cache.evaluation(of: snapshot, at: now) }
        let kernel = cache.evaluator.evaluate(
            ipv4: ipv4.results.map(\.outcome),
            ipv6: ipv6.results.map(\.outcome),
            snapshot,
            at: now
        )
        let needsModel = ipv4.basis == .model || ipv6.basis == .model
        let model = needsModel ? cache.evaluation(of: snapshot, at: now) : kernel
        let ipv4 = ipv4.choose(model: model.ipv4, kernel: kernel.ipv4)
        let ipv6 = ipv6.choose(model: model.ipv6, kernel: kernel.ipv6)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    // MARK: Results

    /// Records that the model changed, so that the results are older than it.
    mutating func invalidate() { isCurrent = false }

    /// Records that the model was read again: it is confirmed before a different path is published.
    mutating func noteDump() { isUnconfirmedDump = true }

    /// Keeps results while there is no complete model to compare them with.
    mutating func keep(_ results: ProbeResults) {
        hasNewResults = true
        ipv4.take(results.ipv4)
        ipv6.take(results.ipv6)
    }

    /// Compares the outcomes by the model with the kernel's results.
    ///
    /// - Parameters:
    ///   - model: The evaluation of the model.
    ///   - results: The kernel's results.
    ///   - snapshot: The model.
    ///   - now: The moment.
    /// - Returns: The findings of the comparison, of both families.
    mutating func compare(
        _ model: PathEvaluation,
        with results: ProbeResults,
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) -> Result {
        hasNewResults = true
        isUnconfirmedDump = false
        var result = Result()
        for family in AddressFamily.allCases {
            compare(family, model.of(family).outcomes, results.of(family), snapshot, &result, at: now)
        }
        return result
    }

    private mutating func compare(
        _ family: AddressFamily,
        _ model: [LookupOutcome],
        _ results: [ProbeResult],
        _ snapshot: NetworkSnapshot,
        _ result: inout Result,
        at now: Instant
    ) {
        let wasKernel = confirmation(family).basis == .kernel
        let isPassing = { results.contains { Self.isPassing($0, family, snapshot) } }
        let hasExpired = { results.contains { snapshot.hasExpired($0, family, at: now) } }
        let step =
            family == .ipv4
            ? ipv4.compare(model, with: results, isPassing: isPassing(), hasExpired: hasExpired())
            : ipv6.compare(model, with: results, isPassing: isPassing(), hasExpired: hasExpired())
        switch step {
        case .none: break
        case .askAgain: schedule.request(at: now, inDetail: true)
        case .askLater(let delay): schedule.requestAgain(at: now.advanced(by: delay))
        case .readContext:
            result.mismatches += 1
            read([.addresses(family), .rules(family), .nexthops], family, &result)
        case .readExpired, .readTables: read(tables(family, model), family, &result)
        case .readAll: read(DumpScheduler.everything, family, &result)
        }
        if [.readContext, .readTables, .readAll].contains(step) { result.isMismatch = true }
        if wasKernel || confirmation(family).basis == .kernel { result.affectsPath = true }
    }

    /// Has tables read; the kernel's results are published meanwhile.
    private mutating func read(_ subjects: [DumpSubject], _ family: AddressFamily, _ result: inout Result) {
        requireKernel(family)
        result.dumps += subjects
    }

    /// Whether the kernel may have made only one of a change and its announcement: the disagreement then ends by itself.
    ///
    /// It removes routes after it has announced that their interface is down (`__dev_notify_flags`) or their source gone
    /// (`__inet_del_ifa`), and adds a route before it announces it (`fib_table_insert`, `fib6_add_rt2node`). Its thread may
    /// be interrupted in between.
    private static func isPassing(_ result: ProbeResult, _ family: AddressFamily, _ snapshot: NetworkSnapshot) -> Bool {
        guard case .selected(let selection) = result.outcome,
            let position = snapshot.linkPosition(selection.nextHop.interface)
        else { return false }
        guard snapshot.links[position].flags.contains(.up) else { return true }
        if let source = selection.nextHop.source, !snapshot.holds(source) { return true }
        return !snapshot.holds(selection, family)
    }

    /// Returns the tables that either the model or the kernel names; everything if neither names one.
    private func tables(_ family: AddressFamily, _ model: [LookupOutcome]) -> [DumpSubject] {
        var tables: [RouteTableID] = []
        for outcome in model + confirmation(family).results.map(\.outcome) {
            guard case .selected(let selection) = outcome, !tables.contains(selection.table) else { continue }
            tables.append(selection.table)
        }
        guard !tables.isEmpty else { return DumpScheduler.everything }
        return tables.map { .routes(family, table: $0) }
    }

    /// Whether the kernel's results suffice before the model is complete, because the model could only agree.
    func isDecisive(_ evaluation: PathEvaluation, _ snapshot: NetworkSnapshot) -> Bool {
        guard dependsOnKernel else { return true }
        guard !evaluation.path.reasons.contains(.carrierUnknown) else { return false }
        return AddressFamily.allCases.allSatisfy { family in
            let confirmation = confirmation(family)
            return confirmation.basis == .model
                || confirmation.results.allSatisfy { Self.isDecisive($0, family, evaluation.path.status, snapshot) }
        }
    }

    /// Whether one result alone determines the path, or the reason why there is none.
    ///
    /// Of several next hops the result names one, and of a VRF not its egress interface. ENETUNREACH is the result of a
    /// missing route and of a rule. A refusal although a socket connects decides nothing.
    private static func isDecisive(
        _ result: ProbeResult,
        _ family: AddressFamily,
        _ status: ReachabilityStatus,
        _ snapshot: NetworkSnapshot
    ) -> Bool {
        guard result.connectedSource == nil else { return false }
        switch result.outcome {
        case .selected(let selection):
            return !result.isMultipath && snapshot.link(selection.nextHop.interface)?.isVRF != true
        case .refused where status.isReachable: return true
        case .refused(LookupErrno.networkUnreachable, let reason):
            return reason == .noRoute && !snapshot.rules(family).contains { $0.action == .unreachable }
        case .refused(_, let reason): return reason != .sourceRule
        }
    }

    /// Whether to wait for the confirmation of a path before it is published.
    ///
    /// If it was read from a dump: the kernel announces some changes before it makes them, so a dump may show what is
    /// about to go. And if only the reasons why there is no path differ: that is not urgent, and may last for a moment
    /// only, because the kernel uses a new IPv6 address before it announces it.
    func awaitsConfirmation(of path: NetworkPath, published: NetworkPath?) -> Bool {
        guard isEnabled, !dependsOnKernel, let published else { return false }
        let isUrgent = published.status != .notReachable || path.status != .notReachable
        guard isUnconfirmedDump || !isUrgent, published != path else { return false }
        return !isCurrent || isPending
    }

    // MARK: Expiry

    /// When to see whether a route that decided has expired, of the families for which the model is authoritative.
    ///
    /// - Parameters:
    ///   - evaluation: The last evaluation.
    ///   - evaluated: When the model was last evaluated: what had expired by then has been taken into account.
    /// - Returns: The moment; nil if none expires.
    func expiryDeadline(of evaluation: PathEvaluation?, after evaluated: Instant) -> Instant? {
        guard isEnabled, let evaluation else { return nil }
        let expiry = Instant.earlier(expiry(.ipv4, evaluation, evaluated), expiry(.ipv6, evaluation, evaluated))
        return expiry?.advanced(by: Pacing.routeExpiry)
    }

    /// Makes the kernel authoritative for the families whose routes have expired.
    ///
    /// - Returns: Whether any has.
    mutating func requireKernelForExpired(
        _ evaluation: PathEvaluation?,
        after evaluated: Instant,
        at now: Instant
    ) -> Bool {
        guard isEnabled, let evaluation else { return false }
        var hasExpired = false
        for family in AddressFamily.allCases {
            guard let expiry = expiry(family, evaluation, evaluated), expiry <= now else { continue }
            requireKernel(family)
            hasExpired = true
        }
        return hasExpired
    }

    private func expiry(_ family: AddressFamily, _ evaluation: PathEvaluation, _ evaluated: Instant) -> Instant? {
        guard confirmation(family).basis == .model, let due = evaluation.of(family).nextExpiry, due > evaluated else {
            return nil
        }
        return due
    }

    // MARK: Requests

    /// When the next lookups are due.
    var deadline: Instant? { schedule.due }

    /// Requests lookups now.
    mutating func request(at now: Instant, inDetail: Bool) { schedule.request(at: now, inDetail: inDetail) }

    /// Requests lookups that confirm an evaluation: immediately if it was published, otherwise after a delay.
    mutating func requestConfirmation(isChange: Bool, isImportant: Bool = true, at now: Instant) {
        guard isEnabled, !isCurrent else { return }
        if isChange {
            schedule.request(at: now, inDetail: false)
        } else {
            let delay = isImportant ? Pacing.confirmation : Pacing.unimportantConfirmation
            schedule.request(at: now.advanced(by: delay), inDetail: false)
        }
    }

    /// Cancels the planned lookups: there would be nothing to compare the results with.
    mutating func cancel() { schedule.cancel() }

    /// Takes the request if it is due, or if an evaluation cannot be made without its results.
    ///
    /// - Parameters:
    ///   - isStale: Whether an evaluation is needed.
    ///   - reader: What has been read.
    ///   - now: The moment.
    /// - Returns: Whether to ask in detail; nil if no lookups are due.
    mutating func takeRequest(isStale: Bool, _ reader: DumpReader, at now: Instant) -> Bool? {
        guard isEnabled, reader.hasPrerequisites else { return nil }
        let isNeeded = isStale && dependsOnKernel && !isCurrent
        guard reader.isDone || isNeeded else {
            schedule.cancel()
            return nil
        }
        guard let inDetail = schedule.take(isNeeded: isNeeded, at: now) else { return nil }
        // True until a message or a dump changes the model, even if that happens before the results are here.
        isCurrent = true
        return inDetail || dependsOnKernel
    }
}

/// When the kernel is asked next.
private struct LookupScheduler: Sendable, Hashable {
    /// When the lookups are due.
    private(set) var due: Instant?
    private var inDetail = false
    private var repetition: Instant?

    /// Schedules lookups for a moment, or for an earlier one that is already scheduled.
    mutating func request(at moment: Instant, inDetail: Bool) {
        // The scheduled results distinguish a late message from a silent change: earlier ones would not.
        if let repetition, moment < repetition { return }
        self.inDetail = self.inDetail || inDetail
        due = min(due ?? moment, moment)
    }

    /// Schedules a repetition for a moment by which all messages under way have arrived.
    mutating func requestAgain(at moment: Instant) {
        repetition = moment
        inDetail = true
        due = moment
    }

    /// Takes the request if it is due or needed now, and returns whether to ask in detail.
    mutating func take(isNeeded: Bool, at now: Instant) -> Bool? {
        guard isNeeded || due.map({ $0 <= now }) ?? false else { return nil }
        defer { self = .init() }
        return inDetail || isNeeded
    }

    mutating func cancel() { self = .init() }
}

extension NetworkSnapshot {
    /// Whether an interface has the address.
    fileprivate func holds(_ address: IPAddress) -> Bool {
        addresses.values.contains { $0.contains { $0.address == address } }
    }

    /// Whether a route may be the one that was selected.
    fileprivate func holds(_ selection: RouteSelection, _ family: AddressFamily) -> Bool {
        routes(family, selection.table).contains { $0.mayBe(selection) }
    }

    /// Whether the kernel selects a route that has expired.
    fileprivate func hasExpired(_ result: ProbeResult, _ family: AddressFamily, at now: Instant) -> Bool {
        guard case .selected(let selection) = result.outcome else { return false }
        return routes(family, selection.table).contains { $0.mayBe(selection) && $0.isExpired(at: now) }
    }
}

extension Route {
    /// Whether this may be the route that was selected: a nexthop object stands for any next hop.
    fileprivate func mayBe(_ selection: RouteSelection) -> Bool {
        let selected = selection.nextHop
        return message.nexthopID != nil
            || message.nextHops.contains { $0.interface == selected.interface && $0.gateway == selected.gateway }
    }
}

extension Confirmation {
    /// Returns the evaluation by what is authoritative.
    fileprivate func choose(model: FamilyEvaluation, kernel: FamilyEvaluation) -> FamilyEvaluation {
        guard basis == .kernel else { return model }
        guard isCoveredBySpecificRoute, kernel.path != nil else { return kernel }
        var kernel = kernel
        kernel.reasons.append(.coveredBySpecificRoute)
        return kernel
    }
}
