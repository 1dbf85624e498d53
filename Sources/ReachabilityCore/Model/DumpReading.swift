/// One reading of one of the kernel's tables: the answers that came, before they are taken into a model.
///
/// Of routes only those that the model mirrors are kept, so that a large table costs no memory.
public struct DumpReading: Sendable, Hashable {
    /// What was asked for.
    public let subject: DumpSubject
    /// Whether the kernel said that something changed meanwhile (`NLM_F_DUMP_INTR`, possibly on `NLMSG_DONE`).
    public private(set) var isInterrupted = false
    /// The answers, in the kernel's order.
    private(set) var answers: [Answer] = []

    /// One answer of the kernel, and when it was received.
    struct Answer: Sendable, Hashable {
        let event: KernelEvent
        let time: Instant
    }

    /// Begins a reading.
    public init(_ subject: DumpSubject) { self.subject = subject }

    /// Takes an answer.
    ///
    /// What does not belong to the subject is dropped: a kernel without IPv6 answers an IPv6 dump with IPv4's entries,
    /// and one without strict checking passes over the filter.
    public mutating func take(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        if header.flags.contains(.dumpInterrupted) { isInterrupted = true }
        if subject.covers(event) { answers.append(.init(event: event, time: now)) }
    }

    /// Whether another reading of the same subject found the same, in the same order.
    ///
    /// The kernel can leave entries out of a dump of IPv6 routes without a word, so such a table counts as read when
    /// two readings agree. Lifetimes, and what follows from the state of devices, may differ.
    public func agrees(with other: Self) -> Bool {
        subject == other.subject && answers.count == other.answers.count
            && zip(answers, other.answers).allSatisfy { $0.event.lasting == $1.event.lasting }
    }
}

extension DumpSubject {
    /// Whether an event is an answer to a dump of this, and one that the model keeps.
    func covers(_ event: KernelEvent) -> Bool {
        switch (self, event) {
        case (.links, .link), (.nexthops, .nexthop): true
        case (.addresses(let family), .address(let message)): message.address.family == family
        case (.routes(let family, let table), .route(let message)):
            message.isMirrored && message.family == family && (table == nil || message.table == table)
        case (.rules(let family), .rule(let message)): message.family == family
        case (.neighbours(let family, let interface), .neighbour(let message)):
            message.address.family == family && (interface == nil || message.index == interface)
        case (.netconf(let family), .netconf(let message)): message.family == family
        default: false
        }
    }
}

extension KernelEvent {
    /// The event without what changes by itself.
    fileprivate var lasting: Self {
        switch self {
        case .route(var message):
            message.lifetime = nil
            message.flags = 0
            for position in message.nextHops.indices { message.nextHops[position].flags = [] }
            return .route(message)
        case .address(var message):
            message.preferredLifetime = nil
            message.validLifetime = nil
            return .address(message)
        default: return self
        }
    }
}
