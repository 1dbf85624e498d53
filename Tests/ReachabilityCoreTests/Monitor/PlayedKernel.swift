@testable import ReachabilityCore

/// A kernel that tests play: its tables, what it answers to dumps, and what it answers to lookups.
struct PlayedKernel {
    /// Every entry of every table, as the message that announces it.
    private(set) var entries: [KernelEvent] = []
    /// A route more specific than the model mirrors covers every probe of IPv4, if set.
    var specificRoute: LookupOutcome?

    /// What every lookup of IPv4 is answered with, by something that no table tells, if set.
    var decision: LookupOutcome?

    /// The rules of a fresh machine, and nothing else.
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

    /// Takes a change into the tables; gives the message that announces it.
    mutating func change(_ event: KernelEvent) -> KernelEvent {
        entries.removeAll { $0.isReplaced(by: event) }
        if event.isEntry { entries.append(event) }
        return event
    }

    /// What a dump of a table answers.
    func dump(_ subject: DumpSubject) -> [KernelEvent] { entries.filter { subject.covers($0) } }

    /// What the kernel knows, in the form of a model that never misses anything.
    func snapshot(at now: Instant) -> NetworkSnapshot {
        var snapshot = NetworkSnapshot()
        for event in entries { snapshot.apply(event, .reply(0), at: now) }
        return snapshot
    }

    /// What the kernel's lookups answer.
    func answers(at now: Instant) -> ProbeResults {
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
    /// The head of an answer to a dump.
    static func reply(_ sequence: UInt32, interrupted: Bool = false) -> Self {
        let flags: NetlinkFlags = interrupted ? [.multi, .dumpInterrupted] : .multi
        return .init(length: 16, type: 0, flags: flags, sequence: sequence, port: 1)
    }

    /// The head of a notification of something new.
    static let notification = Self(length: 16, type: 0, flags: [.create, .exclusive], sequence: 0, port: 0)
}

extension KernelEvent {
    /// Whether the message announces something that is there from then on.
    fileprivate var isEntry: Bool {
        switch self {
        case .link, .address, .route, .rule, .nexthop, .neighbour, .netconf: true
        default: false
        }
    }

    /// Whether an entry is gone, or another, with a new message.
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
