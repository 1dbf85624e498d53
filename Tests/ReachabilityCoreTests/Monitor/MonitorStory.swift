@testable import ReachabilityCore

/// A machine that watches a played kernel, with a clock that only the test moves.
struct MonitorStory {
    var kernel = PlayedKernel()
    var machine: MonitorStateMachine
    /// All changes, in order.
    private(set) var changes: [ReachabilityChange] = []
    /// All that the machine wanted done but changes, in order.
    private(set) var actions: [MonitorAction] = []
    /// The dumps that are asked for and not answered, while ``holdsDumps``.
    private(set) var heldDumps: [(subject: DumpSubject, sequence: UInt32)] = []
    /// Whether dumps are answered only by ``answerDumps()``.
    var holdsDumps = false
    /// Dumps that are answered as interrupted, as often as told.
    var interruptions: [DumpSubject: Int] = [:]
    /// How the kernel divides what it answers to dumps.
    var division = Division.none
    /// Whether the sockets can be opened again.
    var opens = true
    /// A message that is delivered after the kernel was asked and before the machine has the answers.
    var late: KernelEvent?
    private(set) var now = Instant(nanoseconds: 1_000_000_000_000)

    /// Where a second datagram of a dump begins.
    enum Division {
        case none
        case betweenEntries
        case beforeEnd
    }

    init(settle: Duration = .zero, settleGoingDown: Duration? = nil) {
        machine = .init(context: .init(user: 0), settle: settle, settleGoingDown: settleGoingDown)
    }

    /// What was published, without what else the changes say.
    var statuses: [ReachabilityStatus] { changes.map(\.status) }

    /// The changes' events.
    var events: [ReachabilityChange.Event] { changes.map(\.event) }

    /// The dumps that were asked for since the actions were forgotten.
    var dumps: [DumpSubject] {
        actions.compactMap { if case .dump(let subject, _) = $0 { subject } else { nil } }
    }

    /// How often the kernel was asked since the actions were forgotten.
    var lookups: Int {
        actions.count { if case .lookup = $0 { true } else { false } }
    }

    mutating func start() {
        machine.measureSuspension(.zero, at: now)
        machine.start(at: now)
        run()
    }

    /// The kernel changes and says so; the machine hears all of it before it does anything.
    mutating func tell(_ events: KernelEvent...) {
        for event in events { machine.receive(kernel.change(event), .notification, at: now) }
        run()
    }

    /// The kernel says something that is no change of its tables.
    mutating func say(_ event: KernelEvent) {
        machine.receive(event, .notification, at: now)
        run()
    }

    /// A look at a device ends; what was found counts if the machine still expects it.
    mutating func find(_ findings: DeviceFindings) { find([.uevent(findings.message)]) }

    /// An answer about an interface comes; its end names the interface.
    mutating func find(_ answer: [KernelEvent]) {
        guard case .uevent(let end) = answer.last, machine.expectsDevice(end.index, name: end.interface) else { return }
        for event in answer { machine.receiveDevice(event, .notification, at: now) }
        run()
    }

    /// The kernel changes and says nothing.
    mutating func changeSilently(_ events: KernelEvent...) {
        for event in events { _ = kernel.change(event) }
    }

    /// The kernel dropped messages.
    mutating func overrun() {
        machine.overrun(at: now)
        run()
    }

    /// The sockets fail.
    mutating func fail() {
        machine.failed(at: now)
        run()
    }

    /// Time passes; the machine is asked at each of its deadlines.
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

    /// Answers the dumps that are held, and those that the machine asks for then.
    mutating func answerDumps() {
        holdsDumps = false
        let held = heldDumps
        heldDumps = []
        for dump in held { answer(dump.subject, dump.sequence) }
        run()
    }

    /// Answers the first of the dumps that are held, and goes on holding.
    mutating func answerFirstDump() {
        let dump = heldDumps.removeFirst()
        answer(dump.subject, dump.sequence)
        run()
    }

    /// Datagrams of the dump under way come, some milliseconds one after the other, and more are to follow.
    mutating func receiveReplies(_ count: Int, every pause: Duration = .milliseconds(1)) {
        for _ in 0..<count {
            now = now.advanced(by: pause)
            machine.beginReply(at: now)
        }
        run()
    }

    /// Answers dumps until one of a subject is the next to be answered, and goes on holding.
    mutating func answerDumps(before subject: DumpSubject) {
        while let held = heldDumps.first, held.subject != subject { answerFirstDump() }
    }

    mutating func forgetActions() { actions = [] }

    /// Does what the machine wants until it wants nothing.
    mutating func run() {
        while let action = machine.next(at: now), actions.count < 10_000 { perform(action) }
    }

    private mutating func perform(_ action: MonitorAction) {
        if case .publish(let change) = action { return changes.append(change) }
        actions.append(action)
        switch action {
        case .lookup:
            let answers = kernel.answers(at: now)
            if let late {
                self.late = nil
                machine.receive(kernel.change(late), .notification, at: now)
            }
            machine.answered(answers, at: now)
        case .dump(let subject, let sequence):
            if holdsDumps { heldDumps.append((subject, sequence)) } else { answer(subject, sequence) }
        case .reopen: if opens { machine.reopened(at: now) } else { machine.reopenFailed(at: now) }
        case .publish, .probe, .watchNeighbours: break
        }
    }

    private mutating func answer(_ subject: DumpSubject, _ sequence: UInt32) {
        let isInterrupted = interruptions[subject, default: 0] > 0
        interruptions[subject, default: 1] -= 1
        machine.beginReply(at: now)
        for (position, event) in kernel.dump(subject).enumerated() {
            if position == 1, division == .betweenEntries { machine.beginReply(at: now) }
            machine.receiveReply(event, .reply(sequence), at: now)
        }
        if division == .beforeEnd { machine.beginReply(at: now) }
        machine.receiveReply(.done(errno: 0), .reply(sequence, interrupted: isInterrupted), at: now)
    }
}

/// What tests put in the kernel's tables.
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
