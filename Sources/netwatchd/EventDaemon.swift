import CommandLineSupport
import EventCore
import EventJournal
import EventPage
import EventServer
import Glibc
import LinuxSystem
import Reachability
import ReachabilityCore

/// The process of the event service: a monitor, and a server of its changes.
struct EventDaemon {
    /// The path of the Unix socket; nil for the usual one, or for the sockets that systemd passes.
    var socket: String?
    /// The loopback address to listen on, too.
    var listen: LoopbackAddress?
    /// The origins whose pages may read responses.
    var origins: [String]
    /// The file for the metrics.
    var metricsFile: MetricsFile?
    /// The journal; nil for none.
    var journal: JournalOptions?
    /// The webhooks, which need a journal; nil for none.
    var webhooks: WebhookConfiguration?
    /// The arguments of `netwatch-validate`, which finds out whether the path leads to the internet; nil to do without.
    var validatorArguments: [String]?
    /// The monitor's configuration.
    var configuration: MonitorConfiguration

    /// Serves until a signal arrives.
    func run() throws(ToolError) -> ExitStatus {
        let report = ServiceReport(.take())
        // Before the sockets, which a service that ends here must not leave behind; until the journal is closed.
        let lock = try journal?.lock()
        defer { withExtendedLifetime(lock) {} }
        let sockets = try openSockets()
        var files = sockets.compactMap(\.file)
        defer { for file in files { file.remove() } }
        let wakeup = try Wakeup.open()
        let wait = MainWait(signals: try Self.blockedSignals(), wakeup: wakeup)
        let monitor = try startMonitor()
        let run = UInt64.random(in: 0 ... .max)
        let (journal, worker) = try openJournal(run, lock)
        defer {
            worker?.stop()
            journal?.close()
        }
        let server = EventServer(
            run: run,
            sources: sources(monitor),
            store: journal,
            validates: validatorArguments != nil
        )
        let publisher = EventPublisher(server: server, report: report, wakeup: wakeup)
        let validator = try validator(monitor, publisher, wakeup)
        let subscription = monitor.subscribe(on: .immediate) { publisher.publish($0) }
        defer { subscription.cancel() }
        try validator?.start()
        defer { validator?.stop() }
        guard try waitForState(publisher, monitor, wait) else { return .success }
        // It fails only if the event loop has ended.
        try? server.waitForJournal(within: .seconds(1))
        for socket in sockets { try Self.serve(socket, server) }
        _ = monitor.perform { publisher.beginServing() }
        try serve(server, monitor, wait, report, validator)
        report.end()
        subscription.cancel()
        // While it listens, no other process takes its place.
        for file in files { file.remove() }
        files = []
        // What fails now ends with the process.
        try? server.stop()
        return .success
    }

    /// Opens the journal, and starts to add the messages of webhooks to the outbox.
    private func openJournal(
        _ run: UInt64,
        _ lock: JournalLock?
    ) throws(ToolError) -> (EventJournal?, WebhookWorker?) {
        guard let options = journal else { return (nil, nil) }
        var configuration = options.configuration(run)
        configuration.lock = lock
        guard let webhooks else { return (EventJournal(configuration), nil) }
        let wake = LaterClosure()
        configuration.hasStored = { wake.call() }
        let journal = EventJournal(configuration)
        do throws(SystemError) {
            let command = OutboxAddition(folder: webhooks.outbox)
            let worker = try WebhookWorker(
                webhooks,
                journal,
                run: run,
                file: .init(path: options.folder + "/webhooks.last"),
                add: { (message, webhook) throws(ToolError) in try command.add(message, for: webhook) },
                cancel: { command.cancel() }
            )
            try worker.start()
            wake.set { [weak worker] in worker?.wake() }
            return (journal, worker)
        } catch {
            journal.close()
            throw error.toolError("start the webhooks")
        }
    }

    /// Creates what validates the path; nil if nothing does.
    private func validator(
        _ monitor: ReachabilityMonitor,
        _ publisher: EventPublisher,
        _ wakeup: Wakeup
    ) throws(ToolError) -> Validator? {
        guard let validatorArguments else { return nil }
        // The main thread looks for a failure when it is woken.
        return try Validator(validatorArguments, for: .service, wakeup: wakeup) { report in
            // On the event thread, like the changes.
            _ = monitor.perform { publisher.take(report) }
        }
    }

    private func openSockets() throws(ToolError) -> [ListeningSocket] {
        var sockets = try PassedSockets.take(origins: origins)
        if let socket {
            sockets.append(try UnixSocket(path: socket).open())
        } else if sockets.isEmpty {
            sockets.append(try UnixSocket(path: UnixSocket.usualPath).open())
        }
        if let listen { sockets.append(try listen.open(origins: origins)) }
        return sockets
    }

    /// Before any other thread starts, which inherits the blocked signals.
    private static func blockedSignals() throws(ToolError) -> SignalDescriptor {
        do throws(SystemError) { return try .init([SIGINT, SIGTERM]) } catch {
            throw error.toolError("wait for signals")
        }
    }

    private func startMonitor() throws(ToolError) -> ReachabilityMonitor {
        try ToolError.wrapping(try .init(configuration: configuration))
    }

    private static func serve(_ socket: ListeningSocket, _ server: EventServer) throws(ToolError) {
        do {
            try server.listen(on: socket.descriptor, socket.access)
        } catch {
            throw .init("cannot accept connections: \(error); try again later", exit: .systemFailure)
        }
    }

    private func sources(_ monitor: ReachabilityMonitor) -> EventSources {
        var sources = EventSources(
            path: { (text, body) throws(RequestRefusal) in
                let host: Host
                do throws(ArgumentError) {
                    host = try HostArgument.parse(text)
                } catch {
                    throw .init(400, "'\(text)' is no host: \(error)")
                }
                let name = if case .address(let address) = host { address.description } else { text }
                return monitor.subscribe(to: name) { body(HostPathJSON.line($0, at: SystemClock.wall)) }
            },
            now: { .now },
            details: { event, body in
                Task {
                    let details = try? await monitor.wifiDetails(timeout: .seconds(1))
                    body(details.map { EventPublisher.detailedState(after: event, $0) })
                }
            }
        )
        sources.network = MachineDescription(configuration: configuration).source(monitor)
        return sources
    }
}

// MARK: - The main thread

extension EventDaemon {
    /// The maximum time until the first state, which takes milliseconds unless the kernel does not reply.
    private static let stateTimeout = Duration.seconds(10)

    /// Waits for the first state, so that the first response has one.
    ///
    /// - Returns: Whether to continue; false after a signal.
    private func waitForState(
        _ publisher: EventPublisher,
        _ monitor: ReachabilityMonitor,
        _ wait: MainWait
    ) throws(ToolError) -> Bool {
        let deadline = SystemClock.now.advanced(by: Self.stateTimeout)
        while !publisher.hasState {
            switch try next(wait, until: deadline) {
            case .signal: return false
            case .deadline:
                _ = monitor.perform { publisher.publishUnknownIfNeeded() }
                return true
            case .wakeup, .outputClosed: break
            }
        }
        return true
    }

    /// Writes metrics and reports that the service is alive, until a signal arrives.
    private func serve(
        _ server: EventServer,
        _ monitor: ReachabilityMonitor,
        _ wait: MainWait,
        _ report: ServiceReport,
        _ validator: Validator?
    ) throws(ToolError) {
        // The first time, a file that cannot be written is an error; later, the service is worth more.
        try writeMetrics(of: server)
        var hasFailed = false
        var keepAlive = report.nextKeepAlive(after: SystemClock.now)
        var nextMetrics = dueMetrics
        while true {
            try validator?.check()
            let deadline = [keepAlive, nextMetrics].compactMap(\.self).min()
            if case .signal = try next(wait, until: deadline) { return }
            if let due = keepAlive, SystemClock.now >= due {
                // Through both threads, so that one that hangs is noticed.
                _ = monitor.perform { server.perform { report.sendKeepAlive() } }
                keepAlive = report.nextKeepAlive(after: SystemClock.now)
            }
            do throws(ToolError) {
                try writeMetrics(of: server)
                hasFailed = false
            } catch {
                if !hasFailed { _ = CommandLineProgram.report(error) }
                hasFailed = true
            }
            nextMetrics = dueMetrics
        }
    }

    private var dueMetrics: Instant? {
        metricsFile == nil ? nil : SystemClock.now.advanced(by: MetricsFile.interval)
    }

    private func writeMetrics(of server: EventServer) throws(ToolError) {
        guard let metricsFile, let text = try? server.metrics() else { return }
        try metricsFile.write(text)
    }

    private func next(_ wait: MainWait, until deadline: Instant?) throws(ToolError) -> Awakening {
        do throws(SystemError) { return try wait.next(until: deadline) } catch {
            throw error.toolError("wait for events")
        }
    }
}
