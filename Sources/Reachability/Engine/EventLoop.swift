import LinuxSystem
import ReachabilityCore

/// The code of the event thread: receives, feeds the state machine, and performs its actions.
///
/// Confined to the event thread, except while it is created. From the wake-up to the sink nothing is passed to another
/// thread, nothing is locked, and nothing waits; only sockets in another namespace are opened by a thread that is there.
final class EventLoop {
    /// The lookups of destinations.
    let destinations: DestinationService
    /// The inquiries about devices, tunnels and radios.
    let devices: DeviceService

    private let machine: ConfinedMachine
    private let receiver: NetlinkReceiver
    private let run: EngineRun
    private let shared: EngineState
    private let user: UInt32
    private let namespace: NetworkNamespaceHandle
    private let lookups: LookupSocket
    private let poll: EventPoll
    private let clockTimer: ClockChangeTimer
    private var waiters: [Waiter] = []
    private var moderation = Moderation()

    /// Opens all sockets.
    ///
    /// - Parameters:
    ///   - shared: What all runs share.
    ///   - run: The run whose code this is.
    ///   - namespace: The network namespace that is watched.
    /// - Throws: ``ReachabilityError`` if a socket, a descriptor or a timer cannot be opened.
    init(_ shared: EngineState, _ run: EngineRun, in namespace: NetworkNamespaceHandle) throws(ReachabilityError) {
        let configuration = shared.configuration
        let context = configuration.context(user: shared.user)
        self.shared = shared
        self.run = run
        self.namespace = namespace
        user = shared.user
        machine = .init(configuration, context)
        do throws(SystemError) {
            poll = try EventPoll()
            clockTimer = try ClockChangeTimer()
        } catch {
            throw ReachabilityError(error)
        }
        do throws(NetlinkError) { lookups = try LookupSocket(in: namespace) } catch { throw ReachabilityError(error) }
        destinations = .init(machine, shared.watches, lookups, context)
        receiver = try .init(in: namespace, machine, run, configuration, poll, destinations: destinations.addresses)
        devices = .init(machine, receiver, run, in: namespace)
        try poll.add(run.wakeup.descriptor, for: .wakeup)
        try poll.add(clockTimer.descriptor, for: .clock)
    }

    /// Runs until the engine is stopped, and publishes the last change then.
    func main() {
        measureSuspension()
        // The run before, whose sink may have started this one, has ended by now, and has written its counters.
        machine.with { $0.start(after: shared.counters, at: SystemClock.now) }
        var ready = ReadySources()
        while !run.isStopping {
            let before = tally
            cycle(ready)
            gather(since: before)
            // A stop sets the flag first and signals then; the cycle may have taken that signal.
            if run.isStopping { break }
            ready = poll.wait(until: deadline)
        }
        finish()
    }

    private func cycle(_ ready: ReadySources) {
        receiver.beginBatch()
        measureSuspension()
        if ready.contains(.wakeup) {
            run.wakeup.clear()
            runJobs()
        }
        if ready.contains(.clock) { clockTimer.reset() }
        if ready.contains(.uevents) { receiver.drainUevents() }
        // A job includes all changes from before it was submitted, which may be after the poll.
        if !ready.isDisjoint(with: [.events, .generic, .wakeup]) {
            receiver.drain(isGenericReady: ready.contains(.generic))
        }
        let hasReplies = ready.contains(.replies)
        if hasReplies { machine.with { $0.noteQueuedReplies(at: SystemClock.now) } }
        act()
        if hasReplies { readReplies() }
        receiveRoutes()
        destinations.serve(eventDatagrams: receiver.eventDatagrams)
        // A caller that waits for the view reads counters that match it.
        shared.counters = machine.with { $0.counters }
        serveWaiters()
    }

    /// Notes a suspension, before the messages are read that the kernel has queued meanwhile.
    ///
    /// The thread may be frozen anywhere, and the timer that tells of it expires when the kernel finds the time for it.
    private func measureSuspension() {
        machine.with { $0.measureSuspension(SystemClock.suspended, at: SystemClock.now) }
    }

    private func runJobs() {
        for job in run.takeJobs() { job(self) }
        _ = destinations.refresh()
    }

    /// Receives the routes to the watched destinations and to the remote addresses of tunnels.
    private func receiveRoutes() {
        let addresses = destinations.addresses.union(machine.with { $0.tunnelDestinations })
        attempt { () throws(NetlinkError) in
            guard try receiver.receiveRoutes(to: addresses) else { return }
            // Changes of these routes were not received until now.
            machine.with { $0.noteHiddenRoutes(at: SystemClock.now) }
        }
    }

    /// Takes the replies to dumps as they come, and before each the changes until then.
    ///
    /// Jobs are run in between: half a million routes are read for 200 ms, for which no subscriber should wait.
    private func readReplies() {
        while !run.isStopping, receiver.receiveReply() {
            runJobs()
            receiver.drain()
            act()
        }
    }

    private func finish() {
        for job in run.takeJobs(closing: true) { job(self) }
        for waiter in waiters { waiter.body(nil) }
        waiters = []
        let last = machine.with { $0.stop() }
        shared.counters = machine.with { $0.counters }
        shared.publish(last, latency: nil)
        destinations.end()
    }

    private var deadline: Instant? {
        var first = machine.with { $0.deadline }
        if let due = destinations.deadline { first = min(first ?? due, due) }
        for waiter in waiters { first = min(first ?? waiter.deadline, waiter.deadline) }
        return first
    }

    /// The number of messages, and of important ones.
    private var tally: (all: UInt64, urgent: UInt64) { machine.with { ($0.counters.events, $0.urgentEvents) } }

    /// Lets messages gather if those of the last cycle were many and unimportant; other threads' jobs run meanwhile.
    private func gather(since before: (all: UInt64, urgent: UInt64)) {
        let after = tally
        let isImportant = after.urgent != before.urgent
        let count = after.all &- before.all
        guard let end = moderation.note(count, isImportant: isImportant, at: SystemClock.now) else { return }
        run.wakeup.wait(until: end)
    }
}

// MARK: - Actions

extension EventLoop {
    /// Performs the machine's actions until there is none.
    private func act() {
        while !run.isStopping, let action = machine.with({ $0.next(at: SystemClock.now) }) { perform(action) }
    }

    private func perform(_ action: MonitorAction) {
        switch action {
        case .publish(let change): publish(change)
        case .lookup(let inDetail): confirm(inDetail: inDetail)
        case .dump(let subject, let sequence):
            attempt { () throws(NetlinkError) in try receiver.requestDump(subject, sequence: sequence) }
        case .probe(let index, let name): devices.probe(index, name)
        case .watchNeighbours(let receives):
            attempt { () throws(NetlinkError) in try receiver.receiveNeighbours(receives) }
        case .reopen: reopen()
        }
    }

    private func publish(_ change: ReachabilityChange) {
        shared.publish(change, latency: receiver.batchStart?.duration(to: SystemClock.now))
    }

    /// Confirms the evaluation by looking the probes up.
    private func confirm(inDetail: Bool) {
        attempt { () throws(NetlinkError) in
            let replies = try lookups.probe(user: user, detail: inDetail)
            measureSuspension()
            receiver.drainWholly()
            machine.with { $0.receiveResults(replies, at: SystemClock.now) }
        }
    }

    /// Closes the sockets and opens them again.
    private func reopen() {
        do throws(ReachabilityError) {
            try receiver.reopen()
            do throws(NetlinkError) { try lookups.reopen() } catch { throw ReachabilityError(error) }
            machine.with { $0.reopened(at: SystemClock.now) }
        } catch {
            machine.with { $0.reopenFailed(at: SystemClock.now) }
        }
    }

    /// Uses a socket; if it fails, the machine decides what to do.
    private func attempt(_ body: () throws(NetlinkError) -> Void) {
        do throws(NetlinkError) { try body() } catch { machine.with { $0.failed(at: SystemClock.now) } }
    }
}

// MARK: - Views

extension EventLoop {
    /// A caller that waits until the model has been read whole and agrees with the kernel.
    private struct Waiter {
        let deadline: Instant
        let body: (EventLoop?) -> Void
    }

    /// The path of a socket that may only use paths which meet a requirement, as far as it is known.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - requirement: The requirement.
    /// - Returns: The path, or why there is none; with the status `unknown` if what is not read yet may hold one.
    func knownPath(to destination: IPAddress, meeting requirement: PathRequirement) -> EngineResult<DestinationPath> {
        let result = destinations.path(to: destination, meeting: requirement)
        guard case .success(var path) = result else { return result }
        let isKnown = machine.with { $0.evaluation != nil && ($0.hasReadEverything || path.isReachable) }
        guard !isKnown else { return result }
        path.status = .unknown
        path.reasons = [.reading]
        return .success(path)
    }

    /// The current model and evaluation.
    func view(at now: Instant) -> MonitorView {
        machine.with { machine -> MonitorView in
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
    }

    /// Opens a meter of the traffic in the namespace; it outlives the run.
    func makeTrafficMeter() -> EngineResult<TrafficMeter> {
        do throws(NetlinkError) { return .success(try .init(in: namespace)) } catch { return .failure(.init(error)) }
    }

    /// Calls a closure once the model has been read whole and agrees with the kernel.
    ///
    /// - Parameters:
    ///   - deadline: When to call it in any case.
    ///   - body: The closure; called with nil if the engine is stopped before.
    func whenSettled(until deadline: Instant, _ body: @escaping (EventLoop?) -> Void) {
        waiters.append(.init(deadline: deadline, body: body))
    }

    private func serveWaiters() {
        guard !waiters.isEmpty else { return }
        let now = SystemClock.now
        let isSettled = machine.with { $0.isSettled }
        let served = waiters.filter { isSettled || $0.deadline <= now }
        waiters.removeAll { isSettled || $0.deadline <= now }
        for waiter in served { waiter.body(self) }
    }
}

/// The state machine of a run, which the parts of its event loop share.
///
/// Confined to the event thread, except while it is created.
final class ConfinedMachine {
    private var machine: MonitorStateMachine

    /// Creates a machine that is not started.
    init(_ configuration: MonitorConfiguration, _ context: EvaluationContext) {
        machine = .init(
            context: context,
            settle: configuration.settle,
            settleGoingDown: configuration.settleGoingDown
        )
        machine.reportsRoams = configuration.reportsRoams
    }

    /// Reads or changes the machine in its place: to read a property by itself would copy the whole machine.
    func with<Result>(_ body: (inout MonitorStateMachine) -> Result) -> Result { body(&machine) }
}

/// The descriptors that the event thread waits for.
struct ReadySources: OptionSet {
    let rawValue: UInt64

    /// Another thread has a job, or stops the run.
    static let wakeup = Self(rawValue: 1)
    /// The wall clock was set.
    static let clock = Self(rawValue: 2)
    /// Changes of links, addresses, routes and rules.
    static let events = Self(rawValue: 4)
    /// Replies to dumps.
    static let replies = Self(rawValue: 8)
    /// Uevents.
    static let uevents = Self(rawValue: 16)
    /// Generic netlink.
    static let generic = Self(rawValue: 32)
}

extension EventPoll {
    /// Watches a descriptor until it is closed.
    ///
    /// - Throws: ``ReachabilityError/Code/noResources``.
    func add(_ number: Int32, for source: ReadySources) throws(ReachabilityError) {
        do throws(SystemError) { try add(number, reporting: source.rawValue) } catch { throw ReachabilityError(error) }
    }

    /// Waits until a descriptor is readable, or until a deadline.
    fileprivate func wait(until deadline: Instant?) -> ReadySources { .init(rawValue: wait(until: deadline)) }
}
