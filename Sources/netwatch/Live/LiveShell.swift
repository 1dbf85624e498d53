import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import TerminalDrawing

/// Shows the live view on a terminal until the user quits: passes events to it, and redraws only what changed.
///
/// Confined to the main thread.
final class LiveShell {
    private let configuration: LiveConfiguration
    private let screen: CursesScreen
    private let device: TerminalDevice
    private let wait: TerminalWait
    private let data: LiveData
    private var view: LiveView
    private var recording: LiveRecording?
    /// Which state of the view is on the screen.
    private var drawn: UInt64?
    private var nextChange: Instant?
    /// Before this only the results of keys are drawn.
    private var nextDrawing: Instant
    private var end: End?

    /// Changes at shorter intervals are drawn together.
    private static let drawingInterval = Duration.milliseconds(50)
    /// The first frame waits for the first state, but no longer than this.
    private static let firstFrameTimeout = Duration.milliseconds(200)
    /// The interval at which the size of a recording is updated.
    private static let recordingInterval = Duration.seconds(1)
    private var nextRecording: Instant?

    /// How it ends.
    private enum End: Hashable {
        case status(ExitStatus)
        /// By a signal whose default action ends the process.
        case signal(Int32)
    }

    init(
        _ configuration: LiveConfiguration,
        _ options: LiveViewOptions,
        _ screen: CursesScreen,
        _ wait: TerminalWait
    ) throws(ToolError) {
        self.configuration = configuration
        self.screen = screen
        self.wait = wait
        device = wait.device
        data = try .init(configuration, wait.wakeup)
        view = .init(options, at: LiveClock.moment)
        nextDrawing = SystemClock.now.advanced(by: Self.firstFrameTimeout)
        handle(.resize(screen.size))
        data.readPast()
    }

    /// Shows it to its end.
    func run() throws(ToolError) -> ExitStatus {
        while end == nil {
            takeSignals()
            if end == nil { draw() }
            if end == nil { try sleep() }
        }
        finish()
        guard case .status(let status) = end else { return endBySignal() }
        return status
    }

    private func sleep() throws(ToolError) {
        let events: TerminalWait.Events
        do throws(SystemError) { events = try wait.wait(until: deadline) } catch { throw error.toolError("wait") }
        if device.isBehind, !device.write() {
            end = .status(.success)
            return
        }
        if events.contains(.typed) { takeTyped() }
        // Earlier input is lost with the terminal.
        if events.contains(.gone) {
            end = .status(.success)
            return
        }
        for input in data.take() { take(input) }
        try data.checkValidation()
        advanceTime()
    }

    private var deadline: Instant? {
        let drawing = view.revision == drawn || device.isBehind ? nil : nextDrawing
        return [nextChange, data.deadline, nextRecording, drawing].compactMap(\.self).min()
    }

    private func draw() {
        guard view.revision != drawn, !device.isBehind, SystemClock.now >= nextDrawing else { return }
        drawn = view.revision
        let frame = view.frame()
        nextChange = frame.nextChange
        nextDrawing = SystemClock.now.advanced(by: Self.drawingInterval)
        if !screen.draw(frame) { end = .status(.success) }
    }

    private func advanceTime() {
        let now = SystemClock.now
        if let due = nextChange, due <= now {
            // Each frame has the time of the next one; a terminal that is behind gets none until it has caught up.
            nextChange = nil
            handle(.tick(LiveClock.moment))
        }
        guard let recording else { return }
        if let due = nextRecording, due <= now { return tell(recording) }
        if nextRecording == nil, recording.hasBegun { tell(recording) }
    }
}

// MARK: - Inputs

extension LiveShell {
    private func takeTyped() {
        // Keys take effect immediately.
        nextDrawing = .init(nanoseconds: 0)
        while end == nil, let input = screen.next() {
            switch input {
            case .key(let key): handle(.key(key))
            case .wheel(let up, let row): handle(.wheel(up: up, row: row))
            }
        }
        _ = screen.flush()
    }

    private func take(_ input: LiveViewInput) {
        if case .change = input, drawn == nil { nextDrawing = .init(nanoseconds: 0) }
        handle(input)
    }

    private func handle(_ input: LiveViewInput) {
        guard let action = view.apply(input) else { return }
        switch action {
        case .quit: end = .status(.success)
        case .explain: handle(.explanation(data.explanation()))
        case .startRecording: startRecording()
        case .stopRecording: stopRecording()
        case .suspend: suspend()
        case .redraw: redraw()
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
}

// MARK: - Leaving and coming back

extension LiveShell {
    private func redraw() {
        screen.invalidate()
        drawn = nil
        nextDrawing = .init(nanoseconds: 0)
        handle(.resize(screen.size))
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
        handle(.tick(LiveClock.moment))
        redraw()
    }

    private func finish() {
        screen.leave()
        if let recording { _ = recording.end() }
        data.stop()
    }

    private func endBySignal() -> ExitStatus {
        guard case .signal(let number) = end else { return .success }
        SignalActions.end(by: number)
        return .endedBySignal(number)
    }
}

// MARK: - Recording

extension LiveShell {
    private func startRecording() {
        guard recording == nil else { return }
        let moment = LiveClock.moment
        do throws(ToolError) {
            // It is shown only once it has begun, so that it contains everything that happens after that.
            recording = try .init(configuration.monitor, at: moment, wait.wakeup)
        } catch {
            handle(.recording(.failed(error.message), at: moment))
        }
    }

    private func stopRecording() {
        guard let recording else { return }
        (self.recording, nextRecording) = (nil, nil)
        handle(.recording(recording.end(), at: LiveClock.moment))
    }

    /// Passes the state of a recording to the view; ends a recording that cannot be written.
    private func tell(_ recording: LiveRecording) {
        guard case .on = recording.state else {
            let state = recording.state
            (self.recording, nextRecording) = (nil, nil)
            _ = recording.end()
            return handle(.recording(state, at: LiveClock.moment))
        }
        nextRecording = SystemClock.now.advanced(by: Self.recordingInterval)
        handle(.recording(recording.state, at: LiveClock.moment))
    }
}

/// The clocks that the live view is shown by.
enum LiveClock {
    /// This moment.
    static var moment: ViewMoment {
        let time = SystemClock.wall
        return .init(
            time: time,
            utcOffset: SystemClock.utcOffset(at: time),
            instant: SystemClock.now,
            suspended: SystemClock.suspended
        )
    }
}
