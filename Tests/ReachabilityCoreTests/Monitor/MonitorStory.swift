@testable import ReachabilityCore

/// A state machine that monitors a simulated kernel, with a clock that only the test advances.
struct MonitorStory {
    var kernel = PlayedKernel()
    var machine: MonitorStateMachine
    /// All changes, in order.
    private(set) var changes: [ReachabilityChange] = []
    /// All actions that the machine requested except changes, in order.
    private(set) var actions: [MonitorAction] = []
    /// The requested dumps without a reply, while ``holdsDumps``.
    private(set) var heldDumps: [(subject: DumpSubject, sequence: UInt32)] = []
    /// Whether only ``replyToDumps()`` replies to dumps.
    var holdsDumps = false
    /// The number of times that the dump of a table is interrupted.
    var interruptions: [DumpSubject: Int] = [:]
    /// The number of times that the dump of a table fails before its first entry (`ENOMEM`).
    var failures: [DumpSubject: Int] = [:]
    /// How the kernel divides its replies to dumps into datagrams.
    var division = Division.none
    /// Whether the sockets can be opened again.
    var opens = true
    /// A message that is delivered after the kernel's lookups and before the machine has their results.
    var late: KernelEvent?
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)

    /// The place where the second datagram of a dump begins.
    enum Division {
        case none
        case betweenEntries
        case beforeEnd
    }

    init(settle: Duration = .zero, settleGoingDown: Duration? = nil) {
        machine = .init(context: .init(user: 0), settle: settle, settleGoingDown: settleGoingDown)
    }

    /// The statuses of the changes.
    var statuses: [ReachabilityStatus] { changes.map(\.status) }

    /// The changes' events.
    var events: [ReachabilityChange.Event] { changes.map(\.event) }

    /// The dumps that were asked for since the actions were forgotten.
    var dumps: [DumpSubject] {
        actions.compactMap { if case .dump(let subject, _) = $0 { subject } else { nil } }
    }

    /// The number of lookups since the actions were forgotten.
    var lookups: Int {
        actions.count { if case .lookup = $0 { true } else { false } }
    }

    mutating func start() {
        machine.measureSuspension(.zero, at: now)
        machine.start(at: now)
        run()
    }

    /// Changes the kernel, with notifications; the machine receives all of them before it acts.
    mutating func notify(_ events: KernelEvent...) {
        for event in events { machine.receive(kernel.change(event), .notification, at: now) }
        run()
    }

    /// Sends a notification that is no change of the kernel's tables.
    mutating func announce(_ event: KernelEvent) {
        machine.receive(event, .notification, at: now)
        run()
    }

    /// Ends a device probe; the findings count if the machine still expects them.
    mutating func find(_ findings: DeviceFindings) { find([.uevent(findings.message)]) }

    /// Delivers the reply to a query about an interface, whose last message names the interface.
    mutating func find(_ reply: [KernelEvent]) {
        guard case .uevent(let end) = reply.last, machine.expectsDevice(end.index, name: end.interface) else { return }
        for event in reply { machine.receiveDevice(event, .notification, at: now) }
        run()
    }

    /// Changes the kernel without a notification.
    mutating func changeSilently(_ events: KernelEvent...) {
        for event in events { _ = kernel.change(event) }
    }

    /// Reports that the kernel dropped messages.
    mutating func overrun() {
        machine.overrun(at: now)
        run()
    }

    /// Reports that the sockets failed.
    mutating func fail() {
        machine.failed(at: now)
        run()
    }

    /// Advances the clock; the machine runs at each of its deadlines.
    mutating func wait(_ duration: Duration) {
        let end = now.advanced(by: duration)
        var turns = 0
        while let deadline = machine.deadline, deadline <= end, turns < 1_000 {
            now = max(now, deadline)
            run()
            turns += 1
        }
        now = end
        run()
    }

    /// Lets time pass without the machine, which runs once afterwards.
    mutating func freeze(_ duration: Duration) {
        now = now.advanced(by: duration)
        run()
    }

    /// Lets time pass without the machine, which then finds that replies to a dump are queued, and runs before they are read.
    mutating func freezeWithQueuedReplies(_ duration: Duration) {
        now = now.advanced(by: duration)
        machine.noteQueuedReplies(at: now)
        run()
    }

    /// Replies to the held dumps, and to those that the machine requests then.
    mutating func replyToDumps() {
        holdsDumps = false
        let held = heldDumps
        heldDumps = []
        for dump in held { reply(to: dump.subject, dump.sequence) }
        run()
    }

    /// Replies to the first held dump; later ones are still held.
    mutating func replyToFirstDump() {
        let dump = heldDumps.removeFirst()
        reply(to: dump.subject, dump.sequence)
        run()
    }

    /// Delivers datagrams of the dump under way, at intervals; more are to follow.
    mutating func receiveReplies(_ count: Int, every pause: Duration = .milliseconds(1)) {
        for _ in 0..<count {
            now = now.advanced(by: pause)
            machine.beginReply(at: now)
        }
        run()
    }

    /// Replies to dumps until that of a subject is next; later ones are still held.
    mutating func replyToDumps(before subject: DumpSubject) {
        while let held = heldDumps.first, held.subject != subject { replyToFirstDump() }
    }

    mutating func forgetActions() { actions = [] }

    /// Performs the machine's actions until there are none.
    mutating func run() {
        while let action = machine.next(at: now), actions.count < 10_000 { perform(action) }
    }

    private mutating func perform(_ action: MonitorAction) {
        if case .publish(let change) = action { return changes.append(change) }
        actions.append(action)
        switch action {
        case .lookup:
            let results = kernel.results(at: now)
            if let late {
                self.late = nil
                machine.receive(kernel.change(late), .notification, at: now)
            }
            machine.receiveResults(results, at: now)
        case .dump(let subject, let sequence):
            if holdsDumps { heldDumps.append((subject, sequence)) } else { reply(to: subject, sequence) }
        case .reopen: if opens { machine.reopened(at: now) } else { machine.reopenFailed(at: now) }
        case .publish, .probe, .watchNeighbours: break
        }
    }

    private mutating func reply(to subject: DumpSubject, _ sequence: UInt32) {
        let isInterrupted = interruptions[subject, default: 0] > 0
        interruptions[subject, default: 1] -= 1
        let isFailure = failures[subject, default: 0] > 0
        failures[subject, default: 1] -= 1
        let entries = isFailure ? [] : kernel.dump(subject)
        machine.beginReply(at: now)
        for (position, event) in entries.enumerated() {
            if position == 1, division == .betweenEntries { machine.beginReply(at: now) }
            machine.receiveReply(event, .reply(sequence), at: now)
        }
        if division == .beforeEnd { machine.beginReply(at: now) }
        let end = KernelEvent.done(errno: isFailure ? 12 : 0)
        machine.receiveReply(end, .reply(sequence, interrupted: isInterrupted), at: now)
    }
}

/// Entries for the kernel's tables.
enum Entry {
    static func link(_ index: InterfaceIndex, _ name: String, up: Bool = true, carrier: Bool = true) -> LinkMessage {
        var message = LinkMessage(index: index)
        message.name = name
        message.mtu = 1_500
        message.kind = "veth"
        message.hardwareType = .ethernet
        message.flags = up ? (carrier ? [.up, .running, .lowerUp] : [.up]) : []
        message.carrier = carrier
        message.operationalState = up && carrier ? .up : .down
        return message
    }

    static func address(_ text: String, on index: InterfaceIndex) -> AddressMessage {
        let address = IPAddress(text) ?? .init(ipv4: 0)
        return .init(index: index, address: address, prefixLength: address.family == .ipv4 ? 24 : 64, flags: .permanent)
    }

    static func defaultRoute(via gateway: String, on index: InterfaceIndex, metric: UInt32 = 0) -> RouteMessage {
        let gateway = IPAddress(gateway) ?? .init(ipv4: 0)
        var message = RouteMessage(destination: .all(gateway.family))
        message.metric = metric
        message.nextHops = [.init(interface: index, gateway: gateway)]
        return message
    }
}
