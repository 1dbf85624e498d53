import Locking
import ReachabilityCore

/// What the event thread runs: receives, feeds the state machine, and does what it says.
///
/// Confined to the event thread, except while it is made. From the wake-up to the sink nothing is handed to another
/// thread, nothing is locked, and nothing waits.
final class EventLoop {
    private(set) var machine: MonitorStateMachine
    let configuration: MonitorConfiguration
    let run: EngineRun
    var sockets: EngineSockets
    var watcher: DestinationWatcher
    let user: UInt32
    /// The families of generic netlink that the kernel has.
    var families = GenericFamilies()
    private var inquirer: DeviceInquirer?
    let buffer = ReceiveBuffer()
    private let shared: EngineState
    private let poller: Poller
    private let alarm: ClockAlarm
    private var viewers: [Viewer] = []
    /// Whether the event socket is in the neighbours' group.
    private(set) var hearsNeighbours = false
    /// The addresses of which the event socket's filter lets covering routes through.
    var heardDestinations: Set<IPAddress> = []
    private var moderation = Moderation()
    /// When the first message of this turn was read; nil before it.
    private var turnBegan: Instant?

    /// Opens everything in the calling thread's network namespace.
    ///
    /// - Throws: ``MonitorError`` if a socket, a descriptor or a timer can't be had.
    init(_ shared: EngineState, _ run: EngineRun) throws(MonitorError) {
        self.shared = shared
        self.run = run
        configuration = shared.configuration
        user = configuration.user ?? shared.effectiveUser
        watcher = .init(shared.watches)
        _ = watcher.refresh()
        heardDestinations = watcher.destinations
        machine = .init(
            context: configuration.context(user: user),
            settle: configuration.settle,
            settleGoingDown: configuration.settleGoingDown,
            counters: shared.counters
        )
        machine.reportsRoams = configuration.reportsRoams
        poller = try Poller()
        alarm = try ClockAlarm()
        sockets = try Self.openSockets(configuration, watcher)
        run.lookups.withLock { $0 = try? LookupSocket() }
        try poller.add(run.wakeUp.descriptor.number, for: .wakeUp)
        try poller.add(alarm.descriptor.number, for: .clock)
        try watchSockets()
    }

    /// Somebody who waits for a view.
    struct Viewer {
        let gate: Gate<MonitorView?>
        let deadline: Instant
    }

    /// Runs until the engine is stopped; then gives the last notice.
    func main() {
        machine.measureSuspension(Clock.suspended, at: Clock.now)
        machine.start(at: Clock.now)
        var ready = Poller.Sources()
        while !run.isStopping {
            let before = tally
            cycle(ready)
            gather(since: before)
            // Whoever stops the run says so first and signals then; the cycle may have taken that signal.
            if run.isStopping { break }
            ready = poller.wait(until: deadline)
        }
        finish()
    }

    /// What the machine knows now.
    func view(at now: Instant) -> MonitorView {
        let evaluation =
            machine.evaluation
            ?? .init(
                path: .init(status: .unknown, reasons: [.reading]),
                ipv4: .init(outcomes: [], path: nil),
                ipv6: .init(outcomes: [], path: nil)
            )
        return .init(
            snapshot: machine.snapshot,
            evaluation: evaluation,
            instant: now,
            isSettled: machine.isSettled
        )
    }

    /// Answers once the machine has settled, or when the time is up.
    func add(_ viewer: Viewer) { viewers.append(viewer) }

    private var deadline: Instant? {
        var first = consult { $0.deadline }
        if let due = watcher.deadline { first = min(first ?? due, due) }
        for viewer in viewers { first = min(first ?? viewer.deadline, viewer.deadline) }
        return first
    }

    private func cycle(_ ready: Poller.Sources) {
        turnBegan = nil
        if ready.contains(.wakeUp) { runJobs() }
        if ready.contains(.clock) {
            alarm.reset()
            machine.measureSuspension(Clock.suspended, at: Clock.now)
        }
        if ready.contains(.uevents) { drainUevents() }
        if !ready.isDisjoint(with: [.events, .generic]) { drainAll(isGenericReady: ready.contains(.generic)) }
        act()
        if ready.contains(.replies) { readReplies() }
        hearDestinations()
        serveWatches()
        serveViewers()
        shared.counters = consult { $0.counters }
    }

    /// How many messages there were, and how many of importance.
    private var tally: (all: UInt64, urgent: UInt64) { consult { ($0.counters.events, $0.urgentEvents) } }

    /// Lets messages gather if those of the last turn were many and unimportant; other threads are heard meanwhile.
    private func gather(since before: (all: UInt64, urgent: UInt64)) {
        let after = tally
        let now = Clock.now
        let isImportant = after.urgent != before.urgent
        guard let end = moderation.note(after.all &- before.all, isImportant: isImportant, at: now) else { return }
        run.wakeUp.wait(until: end)
    }

    private func runJobs() {
        run.wakeUp.reset()
        for job in run.takeJobs() { job(self) }
        _ = watcher.refresh()
    }

    /// Has the event socket let through the routes to the watched destinations and to the tunnels' other ends.
    private func hearDestinations() {
        let destinations = watcher.destinations.union(consult { $0.tunnelDestinations })
        guard destinations != heardDestinations else { return }
        heardDestinations = destinations
        do throws(NetlinkError) {
            try sockets.events.attach(.routes(covering: destinations))
            // What changed until now was not heard.
            alterMachine { $0.noteHiddenRoutes(at: Clock.now) }
        } catch {
            machine.failed(at: Clock.now)
        }
    }

    /// Takes the answers to dumps as they come, and before each what has happened meanwhile.
    private func readReplies() {
        while !run.isStopping, receiveReply() {
            drainAll()
            act()
        }
    }

    /// Does what the machine says until it says nothing more.
    private func act() {
        while !run.isStopping, let action = machine.next(at: Clock.now) { perform(action) }
    }

    private func finish() {
        for job in run.takeJobs(closing: true) { job(self) }
        for viewer in viewers { viewer.gate.open(nil) }
        viewers = []
        run.lookups.withLock { $0 = nil }
        let last = machine.stop()
        shared.counters = machine.counters
        shared.sink(last, nil)
        endWatches()
    }

    private func serveViewers() {
        guard !viewers.isEmpty else { return }
        let now = Clock.now
        let isSettled = consult { $0.isSettled }
        for viewer in viewers where isSettled || viewer.deadline <= now { viewer.gate.open(view(at: now)) }
        viewers.removeAll { isSettled || $0.deadline <= now }
    }
}

extension EventLoop {
    /// Notes that a message of the kernel's was read.
    func noteReading(at now: Instant) {
        if turnBegan == nil { turnBegan = now }
    }

    /// Feeds the machine.
    func alterMachine(_ body: (inout MonitorStateMachine) -> Void) { body(&machine) }

    /// Asks the machine in its place: reading a property of it by itself would copy the whole first.
    func consult<Result>(_ body: (inout MonitorStateMachine) -> Result) -> Result { body(&machine) }

    private func perform(_ action: MonitorAction) {
        switch action {
        case .publish(let change): shared.sink(change, turnBegan?.duration(to: Clock.now))
        case .lookUp(let inDetail): lookUp(inDetail: inDetail)
        case .dump(let subject, let sequence): dump(subject, sequence)
        case .probe(let index, let name): probe(index, name)
        case .watchNeighbours(let hears): hearNeighbours(hears)
        case .reopen: reopen()
        }
    }

    private func lookUp(inDetail: Bool) {
        do throws(NetlinkError) {
            let answers = try sockets.lookups.probe(user: user, detail: inDetail)
            drainAll()
            machine.answered(answers, at: Clock.now)
        } catch {
            machine.failed(at: Clock.now)
        }
    }

    private func dump(_ subject: DumpSubject, _ sequence: UInt32) {
        let request = NetlinkRequests.dump(subject, sequence: sequence)
        record(request, .toKernel, NetlinkDecoder.route)
        do throws(NetlinkError) {
            try sockets.requests.send(request)
        } catch {
            machine.failed(at: Clock.now)
        }
    }

    /// What asks about devices; made when it is needed first, on the event thread, which is in the namespace.
    func openedInquirer() throws(NetlinkError) -> DeviceInquirer {
        if let inquirer { return inquirer }
        let inquirer = try DeviceInquirer()
        self.inquirer = inquirer
        return inquirer
    }

    private func hearNeighbours(_ hears: Bool) {
        hearsNeighbours = hears
        do throws(NetlinkError) {
            try sockets.hearNeighbours(hears)
        } catch {
            machine.failed(at: Clock.now)
        }
    }

    /// Closes the sockets and opens them again, with what they heard.
    private func reopen() {
        do {
            sockets = try Self.openSockets(configuration, watcher)
            heardDestinations = watcher.destinations
            run.lookups.withLock { $0 = try? LookupSocket() }
            try watchSockets()
            if hearsNeighbours { try sockets.hearNeighbours(true) }
            machine.reopened(at: Clock.now)
        } catch {
            machine.reopenFailed(at: Clock.now)
        }
    }

    private func watchSockets() throws(MonitorError) {
        try watchEvents()
        try poller.add(sockets.requests.descriptor, for: .replies)
        if let number = sockets.ueventsDescriptor { try poller.add(number, for: .uevents) }
        if let number = sockets.genericDescriptor { try poller.add(number, for: .generic) }
        askFamilies()
    }

    /// Waits for what the event socket hears, too.
    func watchEvents() throws(MonitorError) { try poller.add(sockets.events.descriptor, for: .events) }

    private static func openSockets(
        _ configuration: MonitorConfiguration,
        _ watcher: DestinationWatcher
    ) throws(MonitorError) -> EngineSockets {
        do throws(NetlinkError) {
            return try EngineSockets(bufferSize: configuration.receiveBufferSize, watching: watcher.destinations)
        } catch {
            throw MonitorError(error)
        }
    }
}
