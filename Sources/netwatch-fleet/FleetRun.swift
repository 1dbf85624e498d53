import CommandLineSupport
import FleetCore
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore
import TerminalDrawing

/// A run of the viewer: once, with lines, or with a table on a terminal.
struct FleetRun {
    let configuration: FleetSession.Configuration

    /// How changes are shown.
    struct Output {
        var isJSON = false
        var isPlain = false
        var listen: LoopbackAddress?
    }

    /// The signals that end a run without a screen.
    private static func signals() throws(ToolError) -> SignalDescriptor {
        do throws(SystemError) { return try .init([SIGINT, SIGTERM]) } catch {
            throw error.toolError("wait for signals")
        }
    }

    /// Shows the fleet until the user or a signal ends it.
    func follow(_ output: Output) throws(ToolError) -> ExitStatus {
        guard !output.isJSON, !output.isPlain, isatty(STDOUT_FILENO) == 1 else { return try printLines(output) }
        let terminal: OpenTerminal
        do throws(TerminalUnfit) { terminal = try .init { $0.map(\.isEmpty) ?? true } } catch {
            if let words = error.words { StandardError.note("no table: \(words); printing lines") }
            return try printLines(output)
        }
        return try FleetTerminal.show(configuration, listen: output.listen, on: terminal)
    }

    /// Prints a line for each change, until a signal arrives or the reader is gone.
    private func printLines(_ output: Output) throws(ToolError) -> ExitStatus {
        let signals = try Self.signals()
        let session = try FleetSession(configuration, listen: output.listen)
        defer { session.stop() }
        let wait = MainWait(signals: signals, wakeup: session.viewer.wakeup, output: STDOUT_FILENO)
        var lines = FleetLines(isJSON: output.isJSON)
        var problems = FleetProblems(broker: configuration.broker)
        while true {
            switch try Self.next(wait, until: session.deadline) {
            case .signal, .outputClosed: return .success
            case .wakeup, .deadline: break
            }
            guard session.advance() else { continue }
            problems.note(session.viewer)
            let text = lines.text(of: session.viewer)
            do throws(OutputFailure) { try LineOutput.standard.write(text) } catch {
                return try error.end(writing: "stdout")
            }
        }
    }

    private static func next(_ wait: MainWait, until deadline: Instant) throws(ToolError) -> Awakening {
        do throws(SystemError) { return try wait.next(until: deadline) } catch { throw error.toolError("wait") }
    }
}

// MARK: - Once

extension FleetRun {
    /// Prints the fleet once it is known.
    ///
    /// - Parameters:
    ///   - asJSON: Whether as JSON.
    ///   - timeout: How long to wait for the broker.
    /// - Returns: 0 if all machines are reachable, 1 if some are not, 2 if nothing or not everything is known.
    /// - Throws: The error for the user, with the exit status 2 if the broker can't be reached.
    func once(asJSON: Bool, within timeout: Duration) throws(ToolError) -> ExitStatus {
        let signals = try Self.signals()
        let session = try FleetSession(configuration, listen: nil)
        defer { session.stop() }
        let viewer = session.viewer
        let wait = MainWait(signals: signals, wakeup: viewer.wakeup)
        let end = SystemClock.now.advanced(by: timeout)
        var retained = RetainedMessages()
        while SystemClock.now < end {
            if retained.areComplete(in: viewer, at: SystemClock.now) { return try printOnce(viewer, asJSON) }
            if case .refused = viewer.connection { break }
            let due = viewer.hasWaiting ? nil : retained.deadline
            if case .signal = try Self.next(wait, until: min(session.deadline, end, due ?? end)) { return .success }
            _ = session.advance()
        }
        guard viewer.subscriptions > 0 else { throw failure(viewer, timeout) }
        let why = viewer.connection.problem ?? "the broker has not sent everything within \(timeout)"
        StandardError.note("machines may be missing: \(why.escapedForTerminal); give a longer --timeout")
        _ = try printOnce(viewer, asJSON)
        return .unknown
    }

    /// Detects when all retained messages have arrived.
    ///
    /// A broker such as mosquitto queues them before it reads further packets: PINGRESP to a PINGREQ that is sent after the
    /// last of them follows it. MQTT does not require that order, so PINGREQ is sent when no message has come for a while.
    private struct RetainedMessages {
        /// When to send PINGREQ; nil before the subscription, and while PINGRESP is awaited.
        private(set) var deadline: Instant?
        private var subscriptions = 0
        private var subscribed: Instant?
        private var ping: (number: Int, sent: Instant)?

        private static let quietTime = Duration.milliseconds(500)

        mutating func areComplete(in viewer: FleetViewer, at now: Instant) -> Bool {
            if viewer.subscriptions > subscriptions {
                (subscriptions, subscribed, ping) = (viewer.subscriptions, now, nil)
            }
            guard let subscribed else { return false }
            if viewer.isInventoryKnown { return true }
            let last = max(subscribed, viewer.lastRetained ?? subscribed)
            if let ping, last <= ping.sent { return viewer.respondedPing >= ping.number }
            (ping, deadline) = (nil, last.advanced(by: Self.quietTime))
            guard let due = deadline, now >= due, !viewer.hasWaiting else { return false }
            (ping, deadline) = ((viewer.ping(), now), nil)
            return false
        }
    }

    private func failure(_ viewer: FleetViewer, _ timeout: Duration) -> ToolError {
        let why = viewer.connection.problem ?? "it did not respond within \(timeout)"
        let name = configuration.broker.escapedForTerminal
        return .init("nothing is known of the fleet at '\(name)': \(why.escapedForTerminal)", exit: .unknown)
    }

    private func printOnce(_ viewer: FleetViewer, _ asJSON: Bool) throws(ToolError) -> ExitStatus {
        let now = SystemClock.wall
        let status = ExitStatus(rawValue: viewer.board.exitCode)
        guard !asJSON else {
            let nodes = viewer.board.nodes(0..<viewer.board.count, in: viewer.model).map { $0.json(at: now) }
            let text = (nodes + [viewer.board.json(at: now)]).map { $0 + "\n" }.joined()
            return try StandardOutput.write(text, thenExit: status)
        }
        let options = FleetScreen.Options(
            broker: configuration.broker,
            isASCII: false,
            utcOffset: SystemClock.utcOffset(at: now)
        )
        let table = FleetText.table(viewer.board, of: viewer.model, columns: Self.columns, options: options, at: now)
        return try StandardOutput.write(table.map { $0 + "\n" }.joined(), thenExit: status)
    }

    /// The width of the table: that of the terminal, or one that has room for every column.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 200 }
        return Int(size.ws_col)
    }
}
