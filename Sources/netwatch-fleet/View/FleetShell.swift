import CommandLineSupport
import FleetCore
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore
import TerminalDrawing

/// Shows the table of a fleet on a terminal until the user quits; redraws at most ten times a second, and only what changed.
///
/// Confined to the main thread.
final class FleetShell {
    private let session: FleetSession
    private let screen: CursesScreen
    private let wait: TerminalWait
    private var view: FleetView
    private var needsDrawing = true
    private var nextDrawing = Instant(nanoseconds: 0)
    private var nextTick = Instant(nanoseconds: 0)
    private var end: End?

    private enum End: Hashable {
        case status(ExitStatus)
        /// By a signal whose default action ends the process.
        case signal(Int32)
    }

    /// Changes at shorter intervals are drawn together.
    private static let drawingInterval = Duration.milliseconds(100)
    /// The interval at which times on the screen are brought up to date.
    private static let tick = Duration.seconds(1)

    init(_ session: FleetSession, _ screen: CursesScreen, _ wait: TerminalWait, broker: String, isASCII: Bool) {
        (self.session, self.screen, self.wait) = (session, screen, wait)
        let offset = SystemClock.utcOffset(at: SystemClock.wall)
        view = FleetView(.init(broker: broker, isASCII: isASCII, utcOffset: offset))
    }

    /// Shows it to its end.
    func run() throws(ToolError) -> ExitStatus {
        while end == nil {
            takeSignals()
            if end == nil { draw() }
            if end == nil { try sleep() }
        }
        screen.leave()
        switch end {
        case .status(let status): return status
        case .signal(let number):
            SignalActions.end(by: number)
            return .endedBySignal(number)
        case nil: return .success
        }
    }

    private func sleep() throws(ToolError) {
        let events: TerminalWait.Events
        do throws(SystemError) { events = try wait.wait(until: deadline) } catch { throw error.toolError("wait") }
        let isClosed = wait.device.isBehind && !wait.device.write()
        if !isClosed, events.contains(.typed) { takeTyped() }
        // Earlier input is lost with the terminal.
        if isClosed || events.contains(.gone) { end = .status(.success) }
        if session.advance() { needsDrawing = true }
        if SystemClock.now >= nextTick { needsDrawing = true }
    }

    private var deadline: Instant {
        // A terminal that is behind gets nothing until it has caught up, which ends the wait.
        guard !wait.device.isBehind else { return session.deadline }
        return min(session.deadline, needsDrawing ? nextDrawing : nextTick)
    }

    private func draw() {
        let now = SystemClock.now
        guard needsDrawing, !wait.device.isBehind, now >= nextDrawing else { return }
        needsDrawing = false
        (nextDrawing, nextTick) = (now.advanced(by: Self.drawingInterval), now.advanced(by: Self.tick))
        if !screen.draw(view.frame(session.viewer, screen.size, at: SystemClock.wall)) { end = .status(.success) }
    }

    private func takeTyped() {
        // Keys take effect immediately.
        (nextDrawing, needsDrawing) = (.init(nanoseconds: 0), true)
        while end == nil, let input = screen.next() {
            switch input {
            case .key(let key): press(key)
            case .wheel(let up, _): press(up ? .up : .down)
            }
        }
        _ = screen.flush()
    }

    private func press(_ key: Key) {
        switch view.press(key, session.viewer, screen.size) {
        case .nothing: break
        case .redraw: redraw()
        case .quit: end = .status(.success)
        case .suspend: suspend()
        }
    }

    private func takeSignals() {
        while end == nil, let signal = wait.signals.next() {
            switch signal.number {
            case SIGWINCH: redraw()
            case SIGTSTP: suspend()
            // It was stopped by a signal that cannot be caught, and the terminal may have changed since.
            case SIGCONT: resume()
            case SIGINT, SIGTERM, SIGHUP: end = .status(.success)
            default: end = .signal(signal.number)
            }
        }
    }

    private func redraw() {
        screen.invalidate()
        (nextDrawing, needsDrawing) = (.init(nanoseconds: 0), true)
    }

    private func suspend() {
        screen.leave()
        SignalActions.stopUntilContinued()
        // It may have been continued to be ended, in the background, where it may not touch the terminal.
        takeSignals()
        if end == nil { resume() }
    }

    private func resume() {
        screen.resume()
        redraw()
    }
}
