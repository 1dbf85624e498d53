@testable import ReachabilityCore

/// A simulated kernel: its tables, and its replies to dumps and lookups.
struct PlayedKernel {
    /// Every entry of every table, as the message that announces it.
    private(set) var entries: [KernelEvent] = []
    /// The outcome by a route more specific than the model mirrors, for every IPv4 probe; nil if there is none.
    var specificRoute: LookupOutcome?

    /// The outcome of every IPv4 lookup by something that no table contains; nil if there is none.
    var decision: LookupOutcome?

    /// Makes a kernel with the initial rules only.
    init() {
        for family in AddressFamily.allCases {
            for (priority, table) in [(0, RouteTableID.local), (32_766, .main), (32_767, .default)] {
                var rule = RuleMessage(family: family)
                rule.priority = UInt32(priority)
                rule.table = table
                entries.append(.rule(rule))
            }
        }
    }

    /// Changes the tables, and returns the message that announces the change.
    mutating func change(_ event: KernelEvent) -> KernelEvent {
        entries.removeAll { $0.isReplaced(by: event) }
        if event.isEntry { entries.append(event) }
        return event
    }

    /// Returns the reply to a dump of a table.
    func dump(_ subject: DumpSubject) -> [KernelEvent] { entries.filter { subject.covers($0) } }

    /// Returns the kernel's tables as a model that has missed nothing.
    func snapshot(at now: Instant) -> NetworkSnapshot {
        var snapshot = NetworkSnapshot()
        for event in entries { snapshot.apply(event, .reply(0), at: now) }
        return snapshot
    }

    /// Returns the results of the kernel's lookups.
    func results(at now: Instant) -> ProbeResults {
        let evaluation = PathEvaluator(context: .init(user: 0)).evaluate(snapshot(at: now), at: now)
        let ipv4 = evaluation.ipv4.outcomes.map { outcome in
            if let decision { return ProbeResult(decision) }
            return specificRoute.map { ProbeResult($0, matched: .init(.init(ipv4: 0x1600_0000), length: 8)) }
                ?? ProbeResult(outcome)
        }
        return .init(ipv4: ipv4, ipv6: evaluation.ipv6.outcomes.map { ProbeResult($0) })
    }
}

extension NetlinkHeader {
    /// The header of a reply to a dump.
    static func reply(_ sequence: UInt32, interrupted: Bool = false) -> Self {
        let flags: NetlinkFlags = interrupted ? [.multi, .dumpInterrupted] : .multi
        return .init(length: 16, type: 0, flags: flags, sequence: sequence, port: 1)
    }

    /// The header of a notification of a new entry.
    static let notification = Self(length: 16, type: 0, flags: [.create, .exclusive], sequence: 0, port: 0)
}

extension KernelEvent {
    /// Whether the message announces an entry of a table.
    fileprivate var isEntry: Bool {
        switch self {
        case .link, .address, .route, .rule, .nexthop, .neighbour, .netconf: true
        default: false
        }
    }

    /// Whether a new message removes or replaces an entry.
    fileprivate func isReplaced(by event: Self) -> Bool {
        switch (self, event) {
        case (.link(let old), .link(let new)), (.link(let old), .linkRemoved(let new)): old.index == new.index
        case (.address(let old), .address(let new)), (.address(let old), .addressRemoved(let new)):
            old.index == new.index && old.address == new.address
        case (.route(let old), .routeRemoved(let new)): old == new
        case (.route(let old), .route(let new)): old.hasSameKey(as: new)
        case (.rule(let old), .ruleRemoved(let new)): old == new
        case (.neighbour(let old), .neighbour(let new)): old.index == new.index && old.address == new.address
        default: false
        }
    }
}

extension RouteMessage {
    fileprivate func hasSameKey(as other: Self) -> Bool {
        destination == other.destination && table == other.table && metric == other.metric && nextHops == other.nextHops
    }
}
